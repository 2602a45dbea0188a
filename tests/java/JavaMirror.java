import java.io.File;
import java.net.InetAddress;
import java.nio.file.Files;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import net.cnri.util.StreamTable;
import net.handle.hdllib.*;

/**
 * A mirror, made of what the published Java client library has for mirrors: it copies a server, follows it, and goes on
 * with a copy that broke off.
 *
 *     java JavaMirror HOST PORT PREFIX INDEX:HANDLE privkey.bin
 */
public class JavaMirror {
    static final HandleResolver resolver = new HandleResolver();
    static SiteInfo site;
    static AuthenticationInfo who;
    static PublicKey serverKey() throws Exception { return site.servers[0].getPublicKey(); }

    /** What a mirror keeps. */
    static class Mirror implements DumpHandlesCallback, TransactionCallback {
        final Map<String, HandleValue[]> handles = new TreeMap<>();
        final List<String> order = new ArrayList<>();
        final TreeSet<String> homed = new TreeSet<>();
        final Map<String, Long> queues = new TreeMap<>();
        final List<String> seen = new ArrayList<>();
        long date = -1, lastId = -1;
        boolean isFinished = false;

        public void addHandle(byte[] handle, HandleValue[] values) {
            handles.put(Util.decodeString(handle), values);
            order.add(Util.decodeString(handle));
        }
        public void addHomedPrefix(byte[] handle) { homed.add(Util.decodeString(handle)); }
        public void processThisServerReplicationInfo(long date, long id) { this.date = date; lastId = id; }
        public void processOtherSiteReplicationInfo(StreamTable table) { }
        public void setLastCreateOrDeleteDate(byte[] handle, long date, int priority) { }
        public void setLastHomeOrUnhomeDate(byte[] handle, long date, int priority) { }

        public void processTransaction(Transaction done) {
            String handle = Util.decodeString(done.handle);
            JavaClient.need(done.txnId > lastId, "transaction " + done.txnId + " after " + lastId);
            lastId = done.txnId;
            seen.add(Transaction.actionToString(done.action) + " " + handle);
            if (done.action == Transaction.ACTION_CREATE_HANDLE || done.action == Transaction.ACTION_UPDATE_HANDLE) {
                handles.put(handle, done.values);
            } else if (done.action == Transaction.ACTION_DELETE_HANDLE) handles.remove(handle);
            else if (done.action == Transaction.ACTION_HOME_NA) homed.add(handle);
        }
        public void processTransaction(String queue, Transaction done) { queues.putIfAbsent(queue, 0L); processTransaction(done); }
        public void setQueueLastTimestamp(String queue, long date) { queues.put(queue, date); }
        public void finishProcessing(long date) { this.date = date; isFinished = true; }
        public void finishProcessing() { isFinished = true; }

        String text() {
            StringBuilder text = new StringBuilder();
            handles.forEach((handle, values) -> {
                text.append(handle);
                for (HandleValue value : values) text.append(' ').append(Util.decodeHexString(Encoder.encodeHandleValue(value), false));
                text.append('\n');
            });
            return text.toString();
        }
    }

    static AbstractResponse ask(AbstractRequest request) throws HandleException {
        request.certify = true;
        AbstractResponse response = resolver.sendRequestToSite(request, site, Interface.SP_HDL_TCP);
        JavaClient.need(response.responseCode == AbstractMessage.RC_SUCCESS, "expected success, got " + response);
        return response;
    }

    static Mirror copy(byte option, int servers, int number, String after, int phase) throws Exception {
        DumpHandlesRequest request = after == null ? new DumpHandlesRequest(option, servers, number, who)
            : new DumpHandlesRequest(option, servers, number, who, Util.encodeString(after), phase);
        Mirror mirror = new Mirror();
        ((DumpHandlesResponse) ask(request)).processStreamedPart(mirror, serverKey());
        return mirror;
    }

    static Mirror copy() throws Exception { return copy(SiteInfo.HASH_TYPE_BY_ALL, 1, 0, null, 0); }

    static int follow(Mirror mirror) throws Exception {
        RetrieveTxnRequest request = new RetrieveTxnRequest(mirror.lastId, mirror.date, SiteInfo.HASH_TYPE_BY_ALL, 1, 0, who);
        return ((RetrieveTxnResponse) ask(request)).processStreamedPart(mirror, serverKey());
    }

    static HandleValue value(int index, String type, String data) {
        return new HandleValue(index, Util.encodeString(type), Util.encodeString(data));
    }

    static void create(String handle, HandleValue... values) throws Exception {
        AdminRecord record = new AdminRecord(who.getUserIdHandle(), who.getUserIdIndex(), true, true, true, true, true, true, true, true, true, true, true, true);
        List<HandleValue> all = new ArrayList<>(List.of(values));
        all.add(new HandleValue(100, Common.STD_TYPE_HSADMIN, Encoder.encodeAdminRecord(record)));
        ask(new CreateHandleRequest(Util.encodeString(handle), all.toArray(new HandleValue[0]), who));
    }

    public static void main(String[] arguments) throws Exception {
        String prefix = arguments[2];
        int colon = arguments[3].indexOf(':');
        PrivateKey key = Util.getPrivateKeyFromBytes(Util.decrypt(Files.readAllBytes(new File(arguments[4]).toPath()), null), 0);
        who = new PublicKeyAuthenticationInfo(Util.encodeString(arguments[3].substring(colon + 1)),
            Integer.parseInt(arguments[3].substring(0, colon)), key);
        GenericRequest info = new GenericRequest(Common.BLANK_HANDLE, AbstractMessage.OC_GET_SITE_INFO, null);
        site = ((GetSiteInfoResponse) resolver.sendHdlTcpRequest(info, InetAddress.getByName(arguments[0]), Integer.parseInt(arguments[1]))).siteInfo;

        String run = prefix + "/MIRROR-" + Long.toHexString(System.nanoTime()).toUpperCase();
        create(run + "-OLD", value(1, "URL", "https://example.org/old"));
        create(run + "-DOOMED", value(1, "URL", "https://example.org/doomed"));
        Mirror mirror = copy();
        JavaClient.check("a mirror copies", () -> {
            JavaClient.need(mirror.lastId > 0 && mirror.date > 0, "no point to follow from: " + mirror.lastId + ", " + mirror.date);
            JavaClient.need(mirror.handles.containsKey(run + "-OLD"), "a handle is missing");
            JavaClient.need(mirror.homed.contains("0.NA/" + prefix), "homed: " + mirror.homed);
        });
        JavaClient.check("a mirror follows", () -> {
            HandleValue secret = value(7, "HS_SECKEY", "secret");
            secret.setAnyoneCanRead(false);
            create(run + "-NEW", value(1, "URL", "https://example.org/new"), secret);
            ask(new ModifyValueRequest(Util.encodeString(run + "-OLD"), value(1, "URL", "https://example.org/changed"), who));
            ask(new DeleteHandleRequest(Util.encodeString(run + "-DOOMED"), who));
            JavaClient.need(follow(mirror) == RetrieveTxnResponse.SENDING_TRANSACTIONS, "transactions were expected");
            JavaClient.need(mirror.isFinished, "the end did not come");
            JavaClient.need(mirror.seen.size() == 3, "seen: " + mirror.seen);
            JavaClient.need(mirror.text().equals(copy().text()), "following and copying differ");
        });
        JavaClient.check("a mirror that is up to date hears nothing", () -> {
            mirror.seen.clear();
            JavaClient.need(follow(mirror) == RetrieveTxnResponse.SENDING_TRANSACTIONS, "transactions were expected");
            JavaClient.need(mirror.seen.isEmpty(), "seen: " + mirror.seen);
        });
        JavaClient.check("a mirror of many servers follows", () -> {
            Mirror before = copy();
            create(run + "-MANY", value(1, "URL", "https://example.org/many"));
            ReplicationStateInfo state = new ReplicationStateInfo();
            state.setOwnName("9:0.NA/" + prefix);
            String queue = "0:1:0.NA/" + prefix;
            state.setLastTxnId(queue, before.lastId);
            state.setLastTimestamp(queue, before.date);
            RetrieveTxnRequest request = new RetrieveTxnRequest(state, SiteInfo.HASH_TYPE_BY_ALL, 1, 0, who);
            JavaClient.need(((RetrieveTxnResponse) ask(request)).processStreamedPart(before, serverKey()) == RetrieveTxnResponse.SENDING_TRANSACTIONS, "transactions were expected");
            JavaClient.need(before.seen.size() == 1, "seen: " + before.seen);
            JavaClient.need(before.queues.getOrDefault(queue, 0L) >= before.date && before.isFinished, "queues: " + before.queues);
        });
        JavaClient.check("a mirror that is ahead is told to copy anew", () -> {
            Mirror ahead = copy();
            ahead.lastId += 1_000_000;
            JavaClient.need(follow(ahead) == RetrieveTxnResponse.NEED_TO_REDUMP, "copying anew was expected");
        });
        JavaClient.check("two servers share a copy", () -> {
            Mirror whole = copy();
            for (byte option = 0; option < 3; option++) {
                Mirror first = copy(option, 2, 0, null, 0), second = copy(option, 2, 1, null, 0);
                JavaClient.need(first.handles.size() + second.handles.size() == whole.handles.size(), "by option " + option);
                for (String handle : first.handles.keySet()) {
                    SiteInfo two = new SiteInfo();
                    two.hashOption = option;
                    two.servers = new ServerInfo[2];
                    JavaClient.need(two.determineServerNum(Util.encodeString(handle), option, 2) == 0, handle + " by option " + option);
                }
                first.handles.putAll(second.handles);
                JavaClient.need(first.text().equals(whole.text()), "the halves are not the whole");
            }
        });
        JavaClient.check("a copy goes on where it broke off", () -> {
            Mirror whole = copy();
            int middle = whole.order.size() / 2;
            Mirror rest = copy(SiteInfo.HASH_TYPE_BY_ALL, 1, 0, whole.order.get(middle), DumpHandlesRequest.HANDLE);
            JavaClient.need(rest.order.equals(whole.order.subList(middle + 1, whole.order.size())), "other handles come");
            JavaClient.need(rest.homed.equals(whole.homed), "other prefixes come");
            JavaClient.need(rest.lastId == -1, "the point to follow from must stay the first one");
        });
        JavaClient.check("a stream of another server is not believed", () -> {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            PublicKey other = generator.generateKeyPair().getPublic();
            DumpHandlesRequest request = new DumpHandlesRequest(SiteInfo.HASH_TYPE_BY_ALL, 1, 0, who);
            boolean isBelieved = true;
            try {
                ((DumpHandlesResponse) ask(request)).processStreamedPart(new Mirror(), other);
            } catch (HandleException refused) {
                isBelieved = false;
            }
            JavaClient.need(!isBelieved, "the signatures are not looked at");
        });
        JavaClient.check("a mirror copies in a session", () -> {
            resolver.setSessionTracker(new ClientSessionTracker(new SessionSetupInfo(who)));
            for (int round = 0; round < 2; round++) {
                DumpHandlesRequest request = new DumpHandlesRequest(SiteInfo.HASH_TYPE_BY_ALL, 1, 0, who);
                request.sessionTracker = resolver.getSessionTracker();
                Mirror copied = new Mirror();
                ((DumpHandlesResponse) ask(request)).processStreamedPart(copied, serverKey());
                JavaClient.need(copied.handles.containsKey(run + "-OLD"), "a handle is missing");
            }
            JavaClient.need(resolver.getSessionTracker().getAllSessions().length > 0, "no session was made");
        });
        System.out.println(JavaClient.passed + " passed, " + JavaClient.failed + " failed");
        System.exit(JavaClient.failed == 0 ? 0 : 1);
    }
}
