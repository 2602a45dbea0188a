import java.io.File;
import java.net.InetAddress;
import java.nio.file.Files;
import java.security.PrivateKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.handle.hdllib.*;

/**
 * The published Java client library against a server: what existing software does, done by what it does it with.
 *
 *     java JavaClient HOST PORT PREFIX SECRET_INDEX:HANDLE SECRET [KEY_INDEX:HANDLE privkey.bin] [HTTP_PORT]
 */
public class JavaClient {
    static final HandleResolver resolver = new HandleResolver();
    static InetAddress address;
    static int port;
    static int passed = 0, failed = 0;

    interface Check { void run() throws Exception; }

    static void check(String name, Check check) {
        try {
            check.run();
            passed++;
            System.out.println("ok " + name);
        } catch (Throwable problem) {
            failed++;
            System.out.println("FAIL " + name + ": " + problem);
        }
    }

    static void need(boolean is, String what) {
        if (!is) throw new IllegalStateException(what);
    }

    static SiteInfo site;

    /** As a client does that knows the site: it answers challenges too. */
    static AbstractResponse tcp(AbstractRequest request) throws HandleException {
        return resolver.sendRequestToSite(request, site, Interface.SP_HDL_TCP);
    }

    static void code(AbstractResponse response, int expected) {
        need(response.responseCode == expected, "expected " + expected + ", got " + response);
    }

    static HandleValue value(int index, String type, String data) {
        return new HandleValue(index, Util.encodeString(type), Util.encodeString(data));
    }

    static HandleValue admin(String handle, int index) {
        AdminRecord record = new AdminRecord(Util.encodeString(handle), index, true, true, true, true, true, true, true, true, true, true, true, true);
        return new HandleValue(100, Common.STD_TYPE_HSADMIN, Encoder.encodeAdminRecord(record));
    }

    static AuthenticationInfo secret(String identity, String secret) throws Exception {
        int colon = identity.indexOf(':');
        return new SecretKeyAuthenticationInfo(Util.encodeString(identity.substring(colon + 1)),
            Integer.parseInt(identity.substring(0, colon)), Util.encodeString(secret));
    }

    static AuthenticationInfo key(String identity, String file) throws Exception {
        int colon = identity.indexOf(':');
        byte[] bytes = Util.decrypt(Files.readAllBytes(new File(file).toPath()), null);
        PrivateKey key = Util.getPrivateKeyFromBytes(bytes, 0);
        return new PublicKeyAuthenticationInfo(Util.encodeString(identity.substring(colon + 1)),
            Integer.parseInt(identity.substring(0, colon)), key);
    }

    /** Creates, reads, changes, lists and deletes a handle. */
    static void administer(String how, String prefix, String identity, AuthenticationInfo who) {
        String name = prefix + "/JAVA-" + Long.toHexString(System.nanoTime());
        byte[] handle = Util.encodeString(name);
        int index = who.getUserIdIndex();
        String user = Util.decodeString(who.getUserIdHandle());
        check(how + " creates", () -> {
            HandleValue[] values = { value(1, "URL", "https://example.org/a"), admin(user, index) };
            code(tcp(new CreateHandleRequest(handle, values, who)), AbstractMessage.RC_SUCCESS);
        });
        check(how + " cannot create twice", () ->
            code(tcp(new CreateHandleRequest(handle, new HandleValue[] { value(1, "URL", "x:") }, who)),
                AbstractMessage.RC_HANDLE_ALREADY_EXISTS));
        check(how + " adds", () ->
            code(tcp(new AddValueRequest(handle, new HandleValue[] { value(2, "EMAIL", "a@example.org") }, who)), AbstractMessage.RC_SUCCESS));
        check(how + " modifies", () ->
            code(tcp(new ModifyValueRequest(handle, new HandleValue[] { value(1, "URL", "https://example.org/b") }, who)), AbstractMessage.RC_SUCCESS));
        check(how + " reads what it wrote", () -> {
            ResolutionResponse response = (ResolutionResponse) tcp(new ResolutionRequest(handle, null, null, null));
            code(response, AbstractMessage.RC_SUCCESS);
            HandleValue[] values = response.getHandleValues();
            need(values.length == 3, values.length + " values");
            for (HandleValue found : values) {
                if (found.getIndex() == 1) need(found.getDataAsString().equals("https://example.org/b"), found.toString());
            }
        });
        check(how + " removes", () ->
            code(tcp(new RemoveValueRequest(handle, 2, who)), AbstractMessage.RC_SUCCESS));
        check(how + " lists", () -> {
            List<String> found = new ArrayList<>();
            ListHandlesRequest list = new ListHandlesRequest(Util.encodeString("0.NA/" + prefix), who);
            AbstractResponse last = resolver.sendRequestToSite(list, site, Interface.SP_HDL_TCP, response -> {
                if (response instanceof ListHandlesResponse)
                    for (byte[] one : ((ListHandlesResponse) response).handles) found.add(Util.decodeString(one));
            });
            if (last instanceof ListHandlesResponse && found.isEmpty())
                for (byte[] one : ((ListHandlesResponse) last).handles) found.add(Util.decodeString(one));
            need(found.stream().anyMatch(one -> one.equalsIgnoreCase(name)), found.toString());
        });
        check(how + " deletes", () ->
            code(tcp(new DeleteHandleRequest(handle, who)), AbstractMessage.RC_SUCCESS));
        check(how + " finds it gone", () ->
            code(tcp(new ResolutionRequest(handle, null, null, null)), AbstractMessage.RC_HANDLE_NOT_FOUND));
    }

    /** Homes a prefix and creates its record, as those do who set up a server; reads its status, and has it write a checkpoint. */
    static void serve(String identity, AuthenticationInfo who) {
        String prefix = "77." + Long.toHexString(System.nanoTime());
        byte[] record = Util.encodeString("0.NA/" + prefix);
        int index = who.getUserIdIndex();
        String user = Util.decodeString(who.getUserIdHandle());
        check("homes a prefix", () ->
            code(tcp(new GenericRequest(record, AbstractMessage.OC_HOME_NA, who)), AbstractMessage.RC_SUCCESS));
        check("creates the record of the prefix", () -> {
            HandleValue[] values = { value(1, "DESC", "a new prefix"), admin(user, index) };
            code(tcp(new CreateHandleRequest(record, values, who)), AbstractMessage.RC_SUCCESS);
        });
        check("cannot create the record twice", () ->
            code(tcp(new CreateHandleRequest(record, new HandleValue[] { admin(user, index) }, who)), AbstractMessage.RC_HANDLE_ALREADY_EXISTS));
        check("creates under the new prefix", () ->
            code(tcp(new CreateHandleRequest(Util.encodeString(prefix + "/a"), new HandleValue[] { value(1, "URL", "https://example.org/") }, who)), AbstractMessage.RC_SUCCESS));
        check("reads the status of the server", () -> {
            ResolutionRequest request = new ResolutionRequest(Util.encodeString("0.SITE/status"), null, null, who);
            request.ignoreRestrictedValues = false;
            ResolutionResponse response = (ResolutionResponse) tcp(request);
            HandleValue status = response.getHandleValues()[0];
            need(status.getTypeAsString().equals("CNRI.SERVER_STATUS"), status.toString());
            need(status.getDataAsString().contains("numreqs="), status.toString());
        });
        check("has a checkpoint written", () ->
            code(tcp(new GenericRequest(Util.encodeString("/"), AbstractMessage.OC_BACKUP_SERVER, who)), AbstractMessage.RC_SUCCESS));
    }

    /** Asks the server at an address what its site is. */
    static void find(String host, int at) throws Exception {
        address = InetAddress.getByName(host);
        port = at;
        resolver.setTcpTimeout(5000);
        GetSiteInfoResponse response = (GetSiteInfoResponse) resolver.sendHdlTcpRequest(
            new GenericRequest(Util.encodeString("/"), AbstractMessage.OC_GET_SITE_INFO, null), address, port);
        site = response.siteInfo;
        need(site.servers.length == 1, "servers");
    }

    /** Says how it went, and ends with the status that says so. */
    static void end() {
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    public static void main(String[] arguments) throws Exception {
        String prefix = arguments[2];
        AuthenticationInfo secret = secret(arguments[3], arguments[4]);
        byte[] handle = Util.encodeString(arguments[3].substring(arguments[3].indexOf(':') + 1));

        check("site information", () -> find(arguments[0], Integer.parseInt(arguments[1])));
        check("resolves over TCP", () -> code(tcp(new ResolutionRequest(handle, null, null, null)), AbstractMessage.RC_SUCCESS));
        check("resolves over UDP", () -> code(resolver.sendHdlUdpRequest(new ResolutionRequest(handle, null, null, null), address, port), AbstractMessage.RC_SUCCESS));
        if (arguments.length > 7) check("resolves over HTTP", () ->
            code(resolver.sendHttpRequest(new ResolutionRequest(handle, null, null, null), address, Integer.parseInt(arguments[7])), AbstractMessage.RC_SUCCESS));
        check("resolves certified", () -> {
            ResolutionRequest request = new ResolutionRequest(handle, null, null, null);
            request.certify = true;
            code(resolver.sendRequestToSite(request, site), AbstractMessage.RC_SUCCESS);
        });
        check("reads what administrators may", () -> {
            ResolutionRequest request = new ResolutionRequest(handle, null, null, secret);
            request.ignoreRestrictedValues = false;
            ResolutionResponse response = (ResolutionResponse) tcp(request);
            need(Arrays.stream(response.getHandleValues()).anyMatch(one -> one.getTypeAsString().equals("HS_SECKEY")), "no secret key");
        });
        check("a wrong secret fails", () -> {
            AuthenticationInfo wrong = secret(arguments[3], "wrong");
            code(tcp(new CreateHandleRequest(Util.encodeString(prefix + "/NEVER"), new HandleValue[0], wrong)), AbstractMessage.RC_AUTHENTICATION_FAILED);
        });
        administer("a secret key", prefix, arguments[3], secret);
        serve(arguments[3], secret);
        if (arguments.length > 6) administer("a public key", prefix, arguments[5], key(arguments[5], arguments[6]));
        check("a session", () -> {
            resolver.setSessionTracker(new ClientSessionTracker(new SessionSetupInfo(secret)));
            String name = prefix + "/JAVA-SESSION-" + Long.toHexString(System.nanoTime());
            HandleValue[] values = { value(1, "URL", "https://example.org/s"), admin(Util.decodeString(secret.getUserIdHandle()), secret.getUserIdIndex()) };
            CreateHandleRequest create = new CreateHandleRequest(Util.encodeString(name), values, secret);
            create.sessionTracker = resolver.getSessionTracker();
            code(resolver.sendRequestToSite(create, site), AbstractMessage.RC_SUCCESS);
            need(resolver.getSessionTracker().getAllSessions().length > 0, "no session was made");
            DeleteHandleRequest delete = new DeleteHandleRequest(Util.encodeString(name), secret);
            delete.sessionTracker = resolver.getSessionTracker();
            code(resolver.sendRequestToSite(delete, site), AbstractMessage.RC_SUCCESS);
            resolver.setSessionTracker(null);
        });
        end();
    }
}
