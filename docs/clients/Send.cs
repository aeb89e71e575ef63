// Sends one message, queries its status until it is final, and reads the replies once. .NET 8 (Program.cs of a console
// app), or Mono. GATEWAY=http://127.0.0.1:8080 KEY=gw_... dotnet run 27825550188
using System;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Threading.Tasks;
using System.Xml;
using System.Xml.Linq;

[DataContract]
public class Recipient
{
    [DataMember] public string mobileNumber { get; set; }
}

[DataContract]
public class Message
{
    [DataMember] public string message { get; set; }
    [DataMember] public Recipient[] recipients { get; set; }
}

public static class Program
{
    static readonly HttpClient client = new HttpClient { Timeout = TimeSpan.FromSeconds(30) };
    static readonly string gateway = Environment.GetEnvironmentVariable("GATEWAY") + "/api/rest/v1/";

    // Reads the JSON of an answer as XML elements: each element of an array becomes an element "item".
    static async Task<XElement> Ask(string path, object body = null)
    {
        var request = new HttpRequestMessage(body == null ? HttpMethod.Get : HttpMethod.Post, gateway + path);
        request.Headers.TryAddWithoutValidation("Authorization", Environment.GetEnvironmentVariable("KEY"));
        if (body != null) request.Content = new StringContent(Json(body), Encoding.UTF8, "application/json");
        using (var response = await client.SendAsync(request))
        {
            var bytes = await response.Content.ReadAsByteArrayAsync();
            var answer = XElement.Load(JsonReaderWriterFactory.CreateJsonReader(bytes, XmlDictionaryReaderQuotas.Max));
            if (!response.IsSuccessStatusCode)
                throw new Exception((string)answer.Element("errorCode") + ": " + (string)answer.Element("errorMessage"));
            return answer;
        }
    }

    static string Json(object body)
    {
        using (var stream = new MemoryStream())
        {
            new DataContractJsonSerializer(body.GetType()).WriteObject(stream, body);
            return Encoding.UTF8.GetString(stream.ToArray());
        }
    }

    public static void Main(string[] args) => Run(args).GetAwaiter().GetResult();

    static async Task Run(string[] args)
    {
        var recipients = new[] { new Recipient { mobileNumber = args[0] } };
        var sent = await Ask("sms/outgoing/send", new Message { message = "Hello", recipients = recipients });
        var first = sent.Element("recipients").Elements().First();
        if (!(bool)first.Element("accepted"))
            throw new Exception("refused: " + (string)first.Element("acceptError"));
        var id = (long)first.Element("apiMessageId");
        Console.WriteLine("sent " + id);

        XElement state;
        while (true)
        {
            var answer = await Ask("sms/outgoing/status", new[] { id });
            state = answer.Element("messageStatuses").Elements().First();
            var code = (string)state.Element("statusErrorCode");
            if (code != "INQUEUE" && code != "SENT") break;
            await Task.Delay(1000);
        }
        Console.WriteLine("status " + (string)state.Element("status"));

        var replies = await Ask("sms/incoming?limit=1");
        Console.WriteLine("replies " + (string)replies.Element("resultsTotalAvailable"));
    }
}
