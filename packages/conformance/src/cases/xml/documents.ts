import type { Answer } from '../../http.ts'
import { xmlText } from '../../expectations.ts'
import type { Keyed, TestedGateway } from '../../tested-gateway.ts'
import { farAhead } from '../../times.ts'

export interface XmlEndpoint {
  readonly path: string
  /** Root element of the request, without its prefix. */
  readonly request: string
  readonly response: string
  /** Content of a valid request that has no effect. */
  readonly content: string
}

const oneUnknown = '<MessageIDs><MessageID><ID>9007199254740991</ID></MessageID></MessageIDs>'
const nobody =
  '<Messages><Message><MessageText>a</MessageText><Numbers><Number>1</Number></Numbers></Message></Messages>'

export const sendXml = {
  path: 'xmlsendsmsmulti.asp',
  request: '_Multi_Message',
  response: 'XMLGateway_Response',
  content: nobody,
}
export const statusXml = {
  path: 'xmlgetstatus.asp',
  request: '_StatusRequest',
  response: 'XMLGatewayStatus_Response',
  content: oneUnknown,
}
export const deleteXml = {
  path: 'xmldeletescheduled.asp',
  request: '_DeleteScheduled',
  response: 'XMLGatewayDeleteScheduled_Response',
  content: oneUnknown,
}
export const repliesXml = {
  path: 'xmlgetreplies.asp',
  request: '_Replies',
  response: 'XMLGateway_Replies',
  content: '',
}
export const codeXml = {
  path: 'xmlgetscmessages.asp',
  request: '_SCmessages',
  response: 'XMLGateway_SCmessages',
  content: '',
}

/** All endpoints of the interface (spec 4.3). */
export const xmlEndpoints: readonly XmlEndpoint[] = [sendXml, statusXml, deleteXml, repliesXml, codeXml]

/** Sends a request to an endpoint, with the key first. */
export const askXml = (
  gateway: TestedGateway,
  { path, request }: XmlEndpoint,
  content: string,
  by?: Keyed,
): Promise<Answer> => gateway.xml(path, `Svc${request}`, content, by)

export const message = (text: string, numbers: readonly string[]): string =>
  `<Message><MessageText>${text}</MessageText><Numbers>${numbers.map((one) => `<Number>${one}</Number>`).join('')}</Numbers></Message>`

/** Sends messages far ahead, which are deleted after the case. */
export async function sendMessages(
  gateway: TestedGateway,
  messages: string,
  by: Keyed = gateway.main,
): Promise<Answer> {
  const answer = await askXml(
    gateway,
    sendXml,
    `<Scheduled>${farAhead()}</Scheduled><Messages>${messages}</Messages>`,
    by,
  )
  gateway.leave(by, idsOf(answer))
  return answer
}

/** Returns the message ids in the answer of a send. */
export const idsOf = (answer: Answer): number[] =>
  Array.from(answer.text.matchAll(/<ID>(\d+)<\/ID>/g), ([, id]) => Number(id))

/** Returns the texts of all `ID` elements in the answer of a send. */
export const words = (answer: Answer): string[] =>
  Array.from(xmlText(answer).matchAll(/<ID>([^<]*)<\/ID>/g), ([, word = '']) => word)

export const idList = (ids: readonly (number | string)[]): string =>
  `<MessageIDs>${ids.map((id) => `<MessageID><ID>${id}</ID></MessageID>`).join('')}</MessageIDs>`
