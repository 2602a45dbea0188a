import java.io.File;
import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import net.handle.apps.simple.LocalInfoConverter;
import net.handle.hdllib.*;

/**
 * The published batch tool, run as operators run it: a program of its own, a batch file, a log. It finds the server
 * by the local information in its configuration, as it does where a prefix is not in the global registry.
 *
 *     java BatchTool HOST PORT PREFIX SECRET_INDEX:HANDLE SECRET KEY_INDEX:HANDLE privkey.bin
 */
public class BatchTool {
    static SiteInfo site;
    static String host, prefix, secretAdmin, secret, keyAdmin, keyFile;
    static int port;
    static Path home;
    /** Names that no earlier run has used: a name that has existed is never created again. */
    static final String run = Long.toHexString(System.nanoTime());

    static String name(String word) { return prefix + "/BATCH-" + run + "-" + word; }

    /** Where the tool looks for its configuration: only the server under test is known there. */
    static void configure() throws Exception {
        home = Files.createTempDirectory("handle-home");
        Path folder = Files.createDirectory(home.resolve(".handle"));
        Files.writeString(folder.resolve("config.dct"), "{\n\"auto_update_root_info\" = \"no\"\n\"tracing\" = \"no\"\n}\n");
        SiteInfo[] sites = { site };
        String json = LocalInfoConverter.convertToJson(Collections.singletonMap("0.NA/" + prefix, sites));
        try (FileOutputStream out = new FileOutputStream(folder.resolve("local_info").toFile())) {
            LocalInfoConverter.convertToBin(json, out);
        }
    }

    /** Runs the tool on a batch, and gives its log. */
    static String batch(String... lines) throws Exception {
        Path file = Files.createTempFile(home, "batch", ".txt"), log = Files.createTempFile(home, "batch", ".log");
        Files.write(file, Arrays.asList(lines), StandardCharsets.UTF_8);
        Process tool = new ProcessBuilder(
            System.getProperty("java.home") + "/bin/java", "-Duser.home=" + home, "-cp", System.getProperty("java.class.path"),
            "net.handle.apps.batch.GenericBatch", file.toString(), log.toString(), "-verbose")
            .redirectErrorStream(true).redirectOutput(home.resolve("output").toFile()).start();
        if (!tool.waitFor(60, TimeUnit.SECONDS)) {
            tool.destroyForcibly();
            throw new IllegalStateException("the tool did not end: " + Files.readString(home.resolve("output")));
        }
        return Files.readString(log);
    }

    static void succeeded(String log, int entries) {
        JavaClient.need(log.contains("Successes/Total Entries: " + entries + "/" + entries), log);
    }

    static HandleValue[] values(String handle, AuthenticationInfo who) throws Exception {
        ResolutionRequest request = new ResolutionRequest(Util.encodeString(handle), null, null, who);
        request.ignoreRestrictedValues = who == null;
        AbstractResponse response = JavaClient.tcp(request);
        JavaClient.code(response, AbstractMessage.RC_SUCCESS);
        return ((ResolutionResponse) response).getHandleValues();
    }

    static HandleValue at(HandleValue[] values, int index) {
        for (HandleValue value : values) if (value.getIndex() == index) return value;
        throw new IllegalStateException("no value " + index);
    }

    static void text(HandleValue[] values, int index, String type, String text) {
        HandleValue value = at(values, index);
        JavaClient.need(value.getTypeAsString().equals(type) && value.getDataAsString().equals(text), value.toString());
    }

    static void gone(String handle) throws Exception {
        JavaClient.code(JavaClient.tcp(new ResolutionRequest(Util.encodeString(handle), null, null, null)), AbstractMessage.RC_HANDLE_NOT_FOUND);
    }

    static List<String> lines(String... lines) { return new ArrayList<>(Arrays.asList(lines)); }

    static String[] withKey(String... rest) {
        List<String> all = lines("AUTHENTICATE PUBKEY:" + keyAdmin, keyFile + "|", "");
        all.addAll(Arrays.asList(rest));
        return all.toArray(new String[0]);
    }

    static String[] withSecret(String... rest) {
        List<String> all = lines("AUTHENTICATE SECKEY:" + secretAdmin, secret, "");
        all.addAll(Arrays.asList(rest));
        return all.toArray(new String[0]);
    }

    static String adminLine(String identity) {
        int colon = identity.indexOf(':');
        return "100 HS_ADMIN 86400 1110 ADMIN " + identity.substring(0, colon) + ":111111111111:" + identity.substring(colon + 1);
    }

    /** All operations on one record, and what is left then. */
    static void ordinary(String how, String identity, AuthenticationInfo who, String[] head) {
        String handle = name(how.replace(' ', '-')), other = handle + "-gone";
        JavaClient.check("the batch tool with " + how + " runs a batch", () -> {
            Path file = Files.write(home.resolve("data.bin"), new byte[] { 0, 1, 2, (byte) 0xFF });
            List<String> all = lines(head);
            all.addAll(lines(
                "CREATE " + handle, adminLine(identity),
                "1 URL 86400 1110 UTF8 https://example.org/a b",
                "2 EMAIL 3600 1110 UTF8 grüße@example.org",
                "3 NOTE 60 1100 UTF8 for administrators", "",
                "CREATE " + other, adminLine(identity), "1 URL 86400 1110 UTF8 https://example.org/gone", "",
                "ADD " + handle,
                "5 HS_VLIST 86400 1110 LIST 300:" + prefix + "/ADMIN;301:" + prefix + "/ADMIN",
                "6 DATA 86400 1110 FILE " + file,
                "7 DESC 86400 1110 UTF8 to be removed", "8 DESC 86400 1110 UTF8 to be removed too", "",
                "MODIFY " + handle,
                "1 URL 7200 1110 UTF8 https://example.org/new",
                "6 DATA 86400 1111 UTF8 text now", "",
                "REMOVE 7,8:" + handle, "",
                "DELETE " + other, ""));
            succeeded(batch(all.toArray(new String[0])), 6);
        });
        JavaClient.check("what the batch with " + how + " has left", () -> {
            HandleValue[] found = values(handle, null);
            JavaClient.need(found.length == 5, found.length + " values");
            text(found, 1, "URL", "https://example.org/new");
            JavaClient.need(at(found, 1).getTTL() == 7200, "TTL " + at(found, 1).getTTL());
            text(found, 2, "EMAIL", "grüße@example.org");
            text(found, 6, "DATA", "text now");
            JavaClient.need(at(found, 6).getAnyoneCanWrite(), "permissions " + at(found, 6));
            ValueReference[] list = Encoder.decodeValueReferenceList(at(found, 5).getData(), 0);
            JavaClient.need(list.length == 2 && list[1].index == 301, "HS_VLIST " + at(found, 5));
            HandleValue[] all = values(handle, who);
            text(all, 3, "NOTE", "for administrators");
            gone(other);
        });
    }

    public static void main(String[] arguments) throws Exception {
        host = arguments[0];
        port = Integer.parseInt(arguments[1]);
        prefix = arguments[2];
        secretAdmin = arguments[3];
        secret = arguments[4];
        keyAdmin = arguments[5];
        keyFile = arguments[6];
        JavaClient.find(host, port);
        site = JavaClient.site;
        configure();
        AuthenticationInfo key = JavaClient.key(keyAdmin, keyFile), password = JavaClient.secret(secretAdmin, secret);

        ordinary("a public key", keyAdmin, key, withKey());
        ordinary("a secret key", secretAdmin, password, withSecret());
        List<String> session = lines("SESSIONSETUP", "USESESSION:1", "OPTIONS:111", "TIMEOUT:1", "");
        List<String> head = lines(withSecret());
        head.addAll(session);
        ordinary("a secret key in a session", secretAdmin, password, head.toArray(new String[0]));
        head = lines(withKey());
        head.addAll(session);
        ordinary("a public key in a session", keyAdmin, key, head.toArray(new String[0]));

        JavaClient.check("the batch tool homes a prefix and unhomes it", () -> {
            String other = "0.NA/20.500." + run.hashCode();
            String where = host + ":" + port + ":TCP";
            succeeded(batch(withSecret("HOME " + where, other, "", "UNHOME " + where, other, "")), 2);
        });
        JavaClient.check("the batch tool says what it could not do", () -> {
            String handle = name("twice");
            String[] lines = withSecret(
                "CREATE " + handle, "1 URL 86400 1110 UTF8 https://example.org/", adminLine(secretAdmin), "",
                "CREATE " + handle, "1 URL 86400 1110 UTF8 https://example.org/", "",
                "DELETE " + handle + "-never", "");
            String log = batch(lines);
            JavaClient.need(log.contains("Successes/Total Entries: 1/3"), log);
            JavaClient.need(log.contains("FAILURE") && log.toLowerCase().contains("already exist"), log);
        });
        JavaClient.check("the batch tool with a wrong secret changes nothing", () -> {
            String log = batch("AUTHENTICATE SECKEY:" + secretAdmin, "wrong", "",
                "CREATE " + name("wrong"), "1 URL 86400 1110 UTF8 https://example.org/", "");
            JavaClient.need(log.contains("Successes/Total Entries: 0/1"), log);
            gone(name("wrong"));
        });
        for (String algorithm : new String[] { "RSA", "DSA" }) {
            JavaClient.check("the batch tool with a sealed " + algorithm + " key", () -> sealed(algorithm));
        }
        JavaClient.end();
    }

    /** A key that the tool's own library makes and seals with a passphrase; its owner then works with it. */
    static void sealed(String algorithm) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        generator.initialize(2048);
        KeyPair pair = generator.generateKeyPair();
        File publicFile = home.resolve(algorithm + ".pub").toFile(), privateFile = home.resolve(algorithm + ".priv").toFile();
        Files.write(publicFile.toPath(), Util.getBytesFromPublicKey(pair.getPublic()));
        Files.write(privateFile.toPath(), Util.encrypt(Util.getBytesFromPrivateKey(pair.getPrivate()), Util.encodeString("phrase"), Common.ENCRYPT_PBKDF2_AES_CBC_PKCS5));
        String owner = name("owner-" + algorithm), theirs = name("theirs-" + algorithm);
        String ownerLine = "101 HS_ADMIN 86400 1110 ADMIN 300:111111111111:" + owner;
        succeeded(batch(withSecret(
            "CREATE " + owner, "300 HS_PUBKEY 86400 1110 FILE " + publicFile, adminLine(secretAdmin), "",
            "CREATE " + theirs, ownerLine, adminLine(secretAdmin), "1 URL 86400 1110 UTF8 https://example.org/1", "",
            "AUTHENTICATE PUBKEY:300:" + owner, privateFile + "|phrase", "",
            "MODIFY " + theirs, "1 URL 86400 1110 UTF8 https://example.org/2", "")), 3);
        text(values(theirs, null), 1, "URL", "https://example.org/2");
    }
}
