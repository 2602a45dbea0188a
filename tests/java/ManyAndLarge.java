import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import net.handle.api.HSAdapter;
import net.handle.api.HSAdapterFactory;
import net.handle.hdllib.*;

/**
 * The published Java client library where there is much: large records, long lists, many requests in a session, many
 * clients at once; and other keys and other ways in than most use.
 *
 *     java ManyAndLarge HOST PORT PREFIX SECRET_INDEX:HANDLE SECRET KEY_INDEX:HANDLE privkey.bin WEB_PORT
 */
public class ManyAndLarge {
    static final HandleResolver resolver = JavaClient.resolver;
    static final int[] WAYS = { Interface.SP_HDL_UDP, Interface.SP_HDL_TCP, Interface.SP_HDL_HTTP };
    static final String run = Long.toHexString(System.nanoTime());
    static String prefix;
    static int web;
    static AuthenticationInfo password;

    static String name(String word) { return prefix + "/MANY-" + run + "-" + word; }

    static HandleValue admin(AuthenticationInfo who) {
        return JavaClient.admin(Util.decodeString(who.getUserIdHandle()), who.getUserIdIndex());
    }

    static byte[] create(String name, AuthenticationInfo who, HandleValue... values) throws Exception {
        List<HandleValue> all = new ArrayList<>(Arrays.asList(values));
        all.add(admin(who));
        byte[] handle = Util.encodeString(name);
        AbstractResponse response = JavaClient.tcp(new CreateHandleRequest(handle, all.toArray(new HandleValue[0]), who));
        JavaClient.code(response, AbstractMessage.RC_SUCCESS);
        return handle;
    }

    /** Sends a request one way; what is certified is verified by the library with the key of the site. */
    static AbstractResponse send(AbstractRequest request, int way) throws Exception {
        ServerInfo server = JavaClient.site.servers[0];
        int port = way == Interface.SP_HDL_HTTP ? web : JavaClient.port;
        Interface target = new Interface(Interface.ST_ADMIN_AND_QUERY, (byte) way, port);
        return resolver.sendRequestToInterface(request, server, target);
    }

    static ResolutionRequest ask(byte[] handle, boolean certify) {
        ResolutionRequest request = new ResolutionRequest(handle, null, null, null);
        request.certify = certify;
        return request;
    }

    static HandleValue[] resolve(byte[] handle, int way, boolean certify) throws Exception {
        AbstractResponse response = send(ask(handle, certify), way);
        JavaClient.code(response, AbstractMessage.RC_SUCCESS);
        if (certify) {
            JavaClient.need(response.signature != null && response.signature.length > 0, "not signed");
            JavaClient.need(response.verifyMessage(JavaClient.site.servers[0].getPublicKey()), "the signature does not verify");
        }
        return ((ResolutionResponse) response).getHandleValues();
    }

    /** Records that do not fit into one packet, or into many. */
    static void sizes() {
        for (int size : new int[] { 1, 400, 600, 5_000, 40_000, 200_000 }) {
            String text = "x".repeat(size);
            JavaClient.check("a value of " + size + " octets", () -> {
                byte[] handle = create(name("size-" + size), password, JavaClient.value(1, "DATA", text));
                for (int way : WAYS) {
                    for (boolean certify : new boolean[] { false, true }) {
                        // A reply of hundreds of packets is not what UDP is for.
                        if (way == Interface.SP_HDL_UDP && size > 50_000) continue;
                        HandleValue[] values = resolve(handle, way, certify);
                        boolean same = Arrays.stream(values).anyMatch(value -> value.getIndex() == 1 && value.getDataAsString().equals(text));
                        JavaClient.need(same, "another value came by way " + way);
                    }
                }
            });
        }
        JavaClient.check("a record of 500 values", () -> {
            HandleValue[] values = new HandleValue[499];
            for (int at = 0; at < values.length; at++) values[at] = JavaClient.value(at + 200, "URL", "https://example.org/" + at);
            byte[] handle = create(name("values"), password, values);
            for (int way : WAYS) JavaClient.need(resolve(handle, way, true).length == 500, "not all came by way " + way);
        });
        JavaClient.check("a request cut into several packets", () -> {
            byte[] handle = Util.encodeString(name("size-1"));
            byte[][] types = new byte[300][];
            for (int at = 0; at < types.length; at++) types[at] = Util.encodeString("TYPE-" + at);
            types[299] = Util.encodeString("DATA");
            AbstractResponse response = send(new ResolutionRequest(handle, types, null, null), Interface.SP_HDL_UDP);
            JavaClient.code(response, AbstractMessage.RC_SUCCESS);
            JavaClient.need(((ResolutionResponse) response).getHandleValues().length == 1, "values");
        });
    }

    static void lists() {
        JavaClient.check("a list of more names than fit into one message", () -> {
            Set<String> wanted = new HashSet<>(), found = new HashSet<>();
            for (int at = 0; at < 260; at++) {
                String name = name("list-" + at);
                create(name, password);
                wanted.add(name.toUpperCase());
            }
            int[] messages = { 0 };
            ListHandlesRequest list = new ListHandlesRequest(Util.encodeString("0.NA/" + prefix), password);
            resolver.sendRequestToSite(list, JavaClient.site, Interface.SP_HDL_TCP, response -> {
                messages[0]++;
                if (response instanceof ListHandlesResponse)
                    for (byte[] one : ((ListHandlesResponse) response).handles) found.add(Util.decodeString(one).toUpperCase());
            });
            JavaClient.need(found.containsAll(wanted), found.size() + " of " + wanted.size() + " in " + messages[0] + " messages");
            JavaClient.need(messages[0] > 1, "one message only");
        });
    }

    static void keys() {
        for (String algorithm : new String[] { "DSA", "RSA" }) {
            int bits = algorithm.equals("DSA") ? 1024 : 4096;
            JavaClient.check(algorithm + " of " + bits + " bits logs in, with its index and without", () -> {
                KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
                generator.initialize(bits);
                KeyPair pair = generator.generateKeyPair();
                HandleValue key = new HandleValue(300, Common.STD_TYPE_HSPUBKEY, Util.getBytesFromPublicKey(pair.getPublic()));
                byte[] owner = create(name("owner-" + algorithm), password, key);
                AdminRecord any = new AdminRecord(owner, 0, true, true, true, true, true, true, true, true, true, true, true, true);
                AdminRecord one = new AdminRecord(owner, 300, true, true, true, true, true, true, true, true, true, true, true, true);
                HandleValue[] admins = {
                    new HandleValue(101, Common.STD_TYPE_HSADMIN, Encoder.encodeAdminRecord(any)),
                    new HandleValue(102, Common.STD_TYPE_HSADMIN, Encoder.encodeAdminRecord(one)),
                };
                byte[] handle = create(name("theirs-" + algorithm), password, admins);
                int next = 1;
                for (int index : new int[] { 300, 0 }) {
                    AuthenticationInfo who = new PublicKeyAuthenticationInfo(owner, index, pair.getPrivate());
                    HandleValue[] values = { JavaClient.value(next++, "URL", "https://example.org/") };
                    JavaClient.code(JavaClient.tcp(new AddValueRequest(handle, values, who)), AbstractMessage.RC_SUCCESS);
                }
            });
        }
        JavaClient.check("a secret key without an index logs in where any index may", () -> {
            HandleValue key = JavaClient.value(300, "HS_SECKEY", "theirs");
            key.setAnyoneCanRead(false);
            byte[] owner = create(name("secret-owner"), password, key);
            AdminRecord any = new AdminRecord(owner, 0, true, true, true, true, true, true, true, true, true, true, true, true);
            byte[] handle = create(name("secret-theirs"), password, new HandleValue(101, Common.STD_TYPE_HSADMIN, Encoder.encodeAdminRecord(any)));
            AuthenticationInfo who = new SecretKeyAuthenticationInfo(owner, 0, Util.encodeString("theirs"));
            HandleValue[] values = { JavaClient.value(1, "URL", "https://example.org/") };
            JavaClient.code(JavaClient.tcp(new AddValueRequest(handle, values, who)), AbstractMessage.RC_SUCCESS);
        });
    }

    /** Many requests in one session, signed and encrypted. */
    static void sessions(AuthenticationInfo who, String how, boolean encrypted) {
        JavaClient.check("100 requests in a session with " + how + (encrypted ? ", encrypted" : ""), () -> {
            SessionSetupInfo setup = new SessionSetupInfo(who);
            setup.encrypted = encrypted;
            setup.authenticated = true;
            ClientSessionTracker tracker = new ClientSessionTracker(setup);
            byte[] handle = create(name("session-" + how.replace(' ', '-') + encrypted), who);
            for (int at = 0; at < 100; at++) {
                AbstractRequest request = at % 2 == 0
                    ? new AddValueRequest(handle, new HandleValue[] { JavaClient.value(1, "URL", "https://example.org/" + at) }, who)
                    : new RemoveValueRequest(handle, 1, who);
                request.sessionTracker = tracker;
                JavaClient.code(resolver.sendRequestToSite(request, JavaClient.site), AbstractMessage.RC_SUCCESS);
            }
            JavaClient.need(tracker.getAllSessions().length == 1, tracker.getAllSessions().length + " sessions");
        });
    }

    static void concurrently() {
        JavaClient.check("8 clients at once, each with its session, create, change, read and delete", () -> {
            ExecutorService threads = Executors.newFixedThreadPool(8);
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                int number = thread;
                all.add(threads.submit(() -> {
                    ClientSessionTracker tracker = number % 2 == 0 ? new ClientSessionTracker(new SessionSetupInfo(password)) : null;
                    for (int at = 0; at < 20; at++) {
                        byte[] handle = Util.encodeString(name("at-once-" + number + "-" + at));
                        String text = "https://example.org/" + number + "/" + at;
                        AbstractRequest[] requests = {
                            new CreateHandleRequest(handle, new HandleValue[] { JavaClient.value(1, "URL", "x:"), admin(password) }, password),
                            new ModifyValueRequest(handle, new HandleValue[] { JavaClient.value(1, "URL", text) }, password),
                        };
                        for (AbstractRequest request : requests) {
                            request.sessionTracker = tracker;
                            JavaClient.code(resolver.sendRequestToSite(request, JavaClient.site), AbstractMessage.RC_SUCCESS);
                        }
                        for (int way : WAYS) {
                            HandleValue[] values = resolve(handle, way, way == WAYS[at % 3]);
                            boolean same = Arrays.stream(values).anyMatch(value -> value.getDataAsString().equals(text));
                            JavaClient.need(same, "not what was written before");
                        }
                        JavaClient.code(JavaClient.tcp(new DeleteHandleRequest(handle, password)), AbstractMessage.RC_SUCCESS);
                    }
                    return null;
                }));
            }
            for (Future<?> one : all) one.get();
            threads.shutdown();
        });
    }

    /** The simple interface of the library, which finds the server by its configuration. */
    static void adapter(AuthenticationInfo who, String secret) {
        JavaClient.check("HSAdapter", () -> {
            Configuration.defaultConfiguration().setAutoUpdateRootInfo(false);
            Configuration.defaultConfiguration().setLocalSites(Util.encodeString("0.NA/" + prefix), new SiteInfo[] { JavaClient.site });
            HSAdapter adapter = HSAdapterFactory.newInstance(
                Util.decodeString(who.getUserIdHandle()), who.getUserIdIndex(), Util.encodeString(secret));
            String handle = name("adapter");
            HandleValue[] values = { adapter.createHandleValue(1, "URL", "https://example.org/1"),
                adapter.createAdminValue(Util.decodeString(who.getUserIdHandle()), who.getUserIdIndex(), 100) };
            adapter.createHandle(handle, values);
            adapter.addHandleValues(handle, new HandleValue[] { adapter.createHandleValue(2, "URL", "https://example.org/2") });
            adapter.updateHandleValues(handle, new HandleValue[] { adapter.createHandleValue(1, "URL", "https://example.org/3") });
            HandleValue[] found = adapter.resolveHandle(handle, new String[] { "URL" }, null, true);
            JavaClient.need(found.length == 2, found.length + " values");
            adapter.deleteHandleValues(handle, new HandleValue[] { found[0] });
            JavaClient.need(adapter.resolveHandle(handle, new String[] { "URL" }, null).length == 1, "the value is still there");
            adapter.deleteHandle(handle);
        });
    }

    public static void main(String[] arguments) throws Exception {
        JavaClient.find(arguments[0], Integer.parseInt(arguments[1]));
        prefix = arguments[2];
        password = JavaClient.secret(arguments[3], arguments[4]);
        AuthenticationInfo key = JavaClient.key(arguments[5], arguments[6]);
        web = Integer.parseInt(arguments[7]);
        sizes();
        lists();
        keys();
        for (boolean encrypted : new boolean[] { false, true }) {
            sessions(password, "a secret key", encrypted);
            sessions(key, "a public key", encrypted);
        }
        concurrently();
        adapter(password, arguments[4]);
        JavaClient.end();
    }
}
