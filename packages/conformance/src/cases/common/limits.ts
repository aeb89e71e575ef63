import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, expectRestError, expectXmlError, header } from '../../expectations.ts'
import type { Answer } from '../../http/read-answer.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { idList, statusXml } from '../xml/documents.ts'

/** So many at a time: of an account that may ask once a second all but a few are over its limit. */
const atOnce = 8

/** One that was over the limit; all others were answered 200. */
async function overLimit(gateway: TestedGateway, ask: () => Promise<Answer>): Promise<Answer> {
  const answers = await Promise.all(Array.from({ length: atOnce }, ask))
  expectEqual(
    answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 429),
    [],
  )
  const refused = answers.find(({ status }) => status === 429)
  if (refused === undefined) throw new Error(`none of ${atOnce} requests at a time was over the limit of one a second`)
  expectEqual(/^[1-9]\d*$/.test(header(refused, 'retry-after') ?? ''), true, 'no Retry-After in whole seconds')
  return refused
}

export const limitCases: readonly Case[] = [
  {
    of: ['1.25', '2.16'],
    title: 'an account over its own limit is answered 429 with Retry-After and Too many requests, on every interface',
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
