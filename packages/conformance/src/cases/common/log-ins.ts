import { randomUUID } from 'node:crypto'
import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, expectXml, expectXmlError, header, expectRestError } from '../../expectations.ts'
import type { Answer } from '../../http.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { statusXml, xmlEndpoints, idList } from '../xml/documents.ts'

const tooMany = 'Too many failed log-ins'

const expectRetryAfter = (answer: Answer): void =>
  expectEqual(/^[1-9]\d*$/.test(header(answer, 'retry-after') ?? ''), true, 'no Retry-After')

/** Returns an unknown user name, so that these cases lock no account out. */
const nobody = (): string => `nobody-${randomUUID()}`

export const logInCases: readonly Case[] = [
  {
    of: ['1.26'],
    title:
      'query string: after the allowed failures of one user, 429 with Retry-After; keys, other users and a verified pair still work',
    run: async (gateway) => {
      const { key, user, password } = gateway.main
      const name = nobody()
      const logIn = () => gateway.query('auth.asp', `user=${name}&password=wrong`)
      const failures = gateway.configuration.logInFailuresMax ?? 10
      const pair = `user=${user}&password=${encodeURIComponent(password)}`
      expectAsp(await gateway.query('auth.asp', pair), 'Login=OK')
      for (let i = 0; i < failures; i++) expectAsp(await logIn(), 'Login=FAIL')
      const answer = await logIn()
      expectAsp(answer, `Error="${tooMany}"`, 429)
      expectRetryAfter(answer)
      expectAsp(await gateway.query('auth.asp', `apikey=${key}`), 'Login=OK')
      expectAsp(await gateway.query('auth.asp', pair), 'Login=OK')
      expectAsp(await gateway.query('auth.asp', `user=${nobody()}&password=wrong`), 'Login=FAIL')
    },
  },
  {
    of: ['1.26'],
    title: 'XML: after the allowed failures of one user, 429 with Retry-After and an Error',
    run: async (gateway) => {
      const name = nobody()
      const document = `<Svc_StatusRequest><User>${name}</User><Password>wrong</Password><MessageIDs><MessageID><ID>1</ID></MessageID></MessageIDs></Svc_StatusRequest>`
      const logIn = () => gateway.document(statusXml.path, document)
      for (let i = 0; i < (gateway.configuration.logInFailuresMax ?? 10); i++)
        expectXmlError(await logIn(), statusXml.response, 'Authentication failed')
      const answer = await logIn()
      expectXmlError(answer, statusXml.response, tooMany, 429)
      expectRetryAfter(answer)
    },
  },
  {
    of: ['spec 5, rule 1', 'spec 9', 'spec 4.2', 'spec 4.3', 'spec 5'],
    title: 'a pair of user and password works on every path of the older interfaces, and a wrong pair does not',
    alone: 'replies',
    run: async (gateway) => {
      const { user, password } = gateway.main
      const pair = (word: string) => `user=${user}&password=${encodeURIComponent(word)}`
      expectAsp(await gateway.query('credits.asp', pair(password)), /^Credits=\d+$/)
      expectAsp(await gateway.query('credits.asp', pair(`${password}x`)), 'Credits=FAIL')
      expectAsp(await gateway.query('requestbatch.asp', `${pair(password)}&messageid=x`), 'x=NOTFOUND&')
      expectAsp(await gateway.query('batchmessage.asp', `${pair(password)}&message=a&numbers=x`), 'x=BADDEST&')
      expectAsp(await gateway.query('deletescheduled.asp', `${pair(password)}&messageid=x`), 'x=NOTFOUND&')
      for (const path of ['httpgetreplies.asp', 'httpgetscmessages.asp', 'listoptouts.asp'])
        expectAsp(await gateway.query(path, pair(password)), /^(?!FAIL&)([^&]*&)*$/)
      expectAsp(await gateway.query('creditstransfer.asp', pair(password)), 'Transfer=invalidFromAccount')
      const credentials = `<User>${user}</User><Password>${password}</Password>`
      for (const { path, request, response, content } of xmlEndpoints)
        expectXml(
          await gateway.document(path, `<Svc${request}>${credentials}${content}</Svc${request}>`),
          new RegExp(`^<${response}(/>|>(?!<Error>))`),
        )
    },
  },
]

/** Number of concurrent requests. All but a few exceed a limit of one request per second. */
const atOnce = 8

/** Returns the refused answer of several concurrent requests. All others must be 200. */
async function overLimit(gateway: TestedGateway, ask: () => Promise<Answer>): Promise<Answer> {
  const answers = await Promise.all(Array.from({ length: atOnce }, ask))
  expectEqual(
    answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 429),
    [],
  )
  const refused = answers.find(({ status }) => status === 429)
  if (refused === undefined)
    throw new Error(`none of ${atOnce} concurrent requests exceeded the limit of one per second`)
  expectEqual(/^[1-9]\d*$/.test(header(refused, 'retry-after') ?? ''), true, 'no Retry-After in whole seconds')
  return refused
}

export const limitCases: readonly Case[] = [
  {
    of: ['1.25', '2.16'],
    title: 'an account over its own limit is answered 429 with Retry-After and Too many requests on every interface',
    run: async (gateway) => {
      const by = gateway.account('limited')
      expectRestError(
        await overLimit(gateway, () => gateway.rest('/credits/balance', { by })),
        429,
        /^Too many requests$/,
      )
      expectAsp(await overLimit(gateway, () => gateway.asp('credits.asp', {}, by)), 'Error="Too many requests"', 429)
      const status = () => gateway.xml(statusXml.path, `Svc${statusXml.request}`, idList([1]), by)
      expectXmlError(await overLimit(gateway, status), statusXml.response, 'Too many requests', 429)
    },
  },
]
