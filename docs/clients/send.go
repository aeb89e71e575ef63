// Sends one message, queries its status until it is final, and reads the replies once. Go 1.19.
// GATEWAY=http://127.0.0.1:8080 KEY=gw_... go run send.go 27825550188
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

// ask sends a body as JSON, or a GET without one, and reads the answer.
func ask(path string, body, answer any) {
	method, content := "GET", []byte(nil)
	if body != nil {
		method = "POST"
		content, _ = json.Marshal(body)
	}
	request, err := http.NewRequest(method, os.Getenv("GATEWAY")+"/api/rest/v1"+path, bytes.NewReader(content))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", os.Getenv("KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Timeout: 30 * time.Second}).Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		log.Fatal(response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		log.Fatal(err)
	}
}

func main() {
	var sent struct {
		Recipients []struct {
			Accepted     bool
			AcceptError  string
			ApiMessageId int64
		}
	}
	ask("/sms/outgoing/send", map[string]any{
		"message":    "Hello",
		"recipients": []map[string]string{{"mobileNumber": os.Args[1]}},
	}, &sent)
	message := sent.Recipients[0]
	if !message.Accepted {
		log.Fatal("refused: ", message.AcceptError)
	}
	fmt.Println("sent", message.ApiMessageId)

	var state struct {
		MessageStatuses []struct{ Status, StatusErrorCode string }
	}
	for {
		ask("/sms/outgoing/status", []int64{message.ApiMessageId}, &state)
		if code := state.MessageStatuses[0].StatusErrorCode; code != "INQUEUE" && code != "SENT" {
			break
		}
		time.Sleep(time.Second)
	}
	fmt.Println("status", state.MessageStatuses[0].Status)

	var replies struct{ ResultsTotalAvailable int64 }
	ask("/sms/incoming?limit=1", nil, &replies)
	fmt.Println("replies", replies.ResultsTotalAvailable)
}
