import type { DemoAccount } from './demo-account.ts'

const number = '27825550101'
/** The second one answers STOP (docs/operations/simulator.md). */
const answering = ['27825550188', '27825550189']

/**
 * Lines to paste into a shell: a send over each interface, the status of all three, and what people answer. A new
 * database counts its messages from 1, so the ids are known before.
 */
export function curlLines(base: string, { apiKey }: Pick<DemoAccount, 'apiKey'>): string {
  const rest = `${base}/api/rest/v1`
  const json = `-H 'Authorization: ${apiKey}' -H 'Content-Type: application/json'`
  const send = `{"message":"Hello over REST","recipients":[{"mobileNumber":"${number}"}]}`
  const auth = `<ApiKey>${apiKey}</ApiKey><User/><Password/>`
  const messages = `<Messages><Message><MessageText>Hello+over+XML</MessageText><Numbers><Number>${number}</Number></Numbers></Message></Messages>`
  const ids = [1, 2, 3].map((id) => `<MessageID><ID>${id}</ID></MessageID>`).join('')
  return [
    'Send a message over each interface:',
    `  curl -s ${json} -d '${send}' ${rest}/sms/outgoing/send; echo`,
    `  curl -s '${base}/api/batchmessage.asp?apikey=${apiKey}&message=Hello+over+HTTP&numbers=${number}'; echo`,
    `  curl -s -d '<Svc_Multi_Message>${auth}${messages}</Svc_Multi_Message>' ${base}/api/xmlsendsmsmulti.asp; echo`,
    'A second later, see that they were delivered:',
    `  curl -s ${json} -d '[1,2,3]' ${rest}/sms/outgoing/status; echo`,
    `  curl -s '${base}/api/requestbatch.asp?apikey=${apiKey}&messageid=1;2;3;'; echo`,
    `  curl -s -d '<Svc_StatusRequest>${auth}<MessageIDs>${ids}</MessageIDs></Svc_StatusRequest>' ${base}/api/xmlgetstatus.asp; echo`,
    'And what is left:',
    `  curl -s -H 'Authorization: ${apiKey}' ${rest}/credits/balance; echo`,
    `  curl -s '${base}/api/credits.asp?apikey=${apiKey}'; echo`,
    'Two people who answer, one of them STOP: send to them, and read three seconds later what they wrote, which is returned once:',
    `  curl -s '${base}/api/batchmessage.asp?apikey=${apiKey}&message=Do+you+like+it%3F&numbers=${answering.join(';')}'; echo`,
    `  curl -s '${base}/api/httpgetreplies.asp?apikey=${apiKey}'; echo`,
  ].join('\n')
}

/**
 * What is printed when the gateway has come up on a new database. With real carriers there is nothing to try without
 * sending it.
 */
export const welcome = (base: string, demo: DemoAccount, isSimulated: boolean): string => `
The gateway runs at ${base}

It was empty, so there is a demo account now, with 1000.0 credits and one sub account (${demo.subLogin}).
Key and password are shown only this once:
  account   ${demo.id}
  API key   ${demo.apiKey}
  user      ${demo.login}
  password  ${demo.password}

${isSimulated ? trying(base, demo) : real(demo)}
Accounts, keys and credits: npx pnpm gateway --help
`

const trying = (base: string, demo: DemoAccount): string => `${curlLines(base, demo)}

The simulated carrier delivers everything; the last two digits of a number choose another outcome (docs/operations/simulator.md).`

const real = ({ id }: DemoAccount): string => `CARRIERS names real carriers: what this account sends reaches people.
If you do not want it: npx pnpm gateway account lock ${id}`

/** What is printed last at the first start: a link that opens the portal once. */
export const portalLink = (base: string, token: string): string => `
The portal, where messages are sent and followed in a browser. This link signs you in once, within an hour:
  ${base}/sign-in/link?token=${token}
Later: ${base}, with the user and the password above
`

/** What is printed when it has come up on a database with accounts. */
export const greeting = (base: string): string => `
The gateway runs at ${base}, which is the portal for a browser
Accounts, keys and credits: npx pnpm gateway --help
`
