// Sends one message, queries its status until it is final, and reads the replies once. Java 11, no library.
// GATEWAY=http://127.0.0.1:8080 KEY=gw_... java Send.java 27825550188
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Set;
import java.util.regex.Pattern;

public class Send {
  static final HttpClient client = HttpClient.newHttpClient();

  static String ask(String path, String body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(System.getenv("GATEWAY") + "/api/rest/v1" + path))
        .timeout(Duration.ofSeconds(30))
        .header("Authorization", System.getenv("KEY"))
        .header("Content-Type", "application/json");
    if (body != null) request.POST(BodyPublishers.ofString(body));
    var response = client.send(request.build(), BodyHandlers.ofString());
    if (response.statusCode() != 200) throw new IllegalStateException(response.body());
    return response.body();
  }

  /** Reads a field without a JSON library. A real program would use one. */
  static String field(String name, String json) {
    var found = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(json);
    return found.find() ? found.group(1) : "";
  }

  public static void main(String[] arguments) throws Exception {
    var sent = ask("/sms/outgoing/send",
        "{\"message\":\"Hello\",\"recipients\":[{\"mobileNumber\":\"" + arguments[0] + "\"}]}");
    var id = field("apiMessageId", sent);
    if (id.equals("null")) throw new IllegalStateException("refused: " + field("acceptError", sent));
    System.out.println("sent " + id);

    var state = ask("/sms/outgoing/status", "[" + id + "]");
    while (Set.of("INQUEUE", "SENT").contains(field("statusErrorCode", state))) {
      Thread.sleep(1000);
      state = ask("/sms/outgoing/status", "[" + id + "]");
    }
    System.out.println("status " + field("status", state));

    System.out.println("replies " + field("resultsTotalAvailable", ask("/sms/incoming?limit=1", null)));
  }
}
