const number = '27825550101'
/** Recipients of the example. The second one answers STOP (docs/operations/simulator.md). */
const answering = ['27825550188', '27825550189']

/**
 * Returns lines to paste into a shell in which `KEY` and `GATEWAY` are set: a send over each interface, the status of
 * all three messages, and the replies.
 */
export function curlLines(): string {
  const rest = '$GATEWAY/api/rest/v1'
  const authorization = '-H "Authorization: $KEY"'
  const json = `${authorization} -H 'Content-Type: application/json'`
  const send = `{"message":"Hello over REST","recipients":[{"mobileNumber":"${number}"}]}`
  const auth = '<ApiKey>$KEY</ApiKey><User/><Password/>'
  const messages = `<Messages><Message><MessageText>Hello+over+XML</MessageText><Numbers><Number>${number}</Number></Numbers></Message></Messages>`
  const ids = [1, 2, 3].map((id) => `<MessageID><ID>${id}</ID></MessageID>`).join('')
  return [
    '# Send a message over each interface:',
    `curl -s ${json} -d '${send}' ${rest}/sms/outgoing/send; echo`,
    `curl -s "$GATEWAY/api/batchmessage.asp?apikey=$KEY&message=Hello+over+HTTP&numbers=${number}"; echo`,
    `curl -s -d "<Svc_Multi_Message>${auth}${messages}</Svc_Multi_Message>" $GATEWAY/api/xmlsendsmsmulti.asp; echo`,
    '# A second later they are delivered. Put the ids that were answered in place of 1, 2 and 3:',
    `curl -s ${json} -d '[1,2,3]' ${rest}/sms/outgoing/status; echo`,
    `curl -s "$GATEWAY/api/requestbatch.asp?apikey=$KEY&messageid=1;2;3;"; echo`,
    `curl -s -d "<Svc_StatusRequest>${auth}<MessageIDs>${ids}</MessageIDs></Svc_StatusRequest>" $GATEWAY/api/xmlgetstatus.asp; echo`,
    '# What is left:',
    `curl -s ${authorization} ${rest}/credits/balance; echo`,
    `curl -s "$GATEWAY/api/credits.asp?apikey=$KEY"; echo`,
    '# Two people who answer, one of them STOP; three seconds later, what they wrote, which is returned once:',
    `curl -s "$GATEWAY/api/batchmessage.asp?apikey=$KEY&message=Do+you+like+it%3F&numbers=${answering.join(';')}"; echo`,
    `curl -s "$GATEWAY/api/httpgetreplies.asp?apikey=$KEY"; echo`,
  ].join('\n')
}
