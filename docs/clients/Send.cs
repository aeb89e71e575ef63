// Sends one message, asks for its status until it is final, and reads the replies once. .NET 8: Program.cs of a console app.
// GATEWAY=http://127.0.0.1:8080 KEY=gw_... dotnet run 27825550188
using System.Net.Http.Json;
using System.Text.Json;

using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(30) };
client.BaseAddress = new Uri(Environment.GetEnvironmentVariable("GATEWAY") + "/api/rest/v1/");
client.DefaultRequestHeaders.TryAddWithoutValidation("Authorization", Environment.GetEnvironmentVariable("KEY"));

async Task<JsonElement> Ask(string path, object? body = null)
{
    using var response = body is null ? await client.GetAsync(path) : await client.PostAsJsonAsync(path, body);
    var answer = await response.Content.ReadFromJsonAsync<JsonElement>();
    if (!response.IsSuccessStatusCode) throw new Exception(answer.GetProperty("errorMessage").GetString());
    return answer;
}

var sent = await Ask("sms/outgoing/send", new { message = "Hello", recipients = new[] { new { mobileNumber = args[0] } } });
var message = sent.GetProperty("recipients")[0];
if (!message.GetProperty("accepted").GetBoolean())
    throw new Exception("refused: " + message.GetProperty("acceptError").GetString());
var id = message.GetProperty("apiMessageId").GetInt64();
Console.WriteLine($"sent {id}");

JsonElement state;
while (true)
{
    state = (await Ask("sms/outgoing/status", new[] { id })).GetProperty("messageStatuses")[0];
    if (state.GetProperty("statusErrorCode").GetString() is not ("INQUEUE" or "SENT")) break;
    await Task.Delay(1000);
}
Console.WriteLine($"status {state.GetProperty("status").GetString()}");

var replies = await Ask("sms/incoming?limit=1");
Console.WriteLine($"replies {replies.GetProperty("resultsTotalAvailable").GetInt64()}");
