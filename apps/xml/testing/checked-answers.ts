import { watchAnswers } from '../../../packages/server/testing/watch-answers.ts'
import { complaints, type Schema } from './validate.ts'

const SCHEMA: Readonly<Record<string, Schema>> = {
  XMLGateway_Response: 'send-response',
  XMLGatewayStatus_Response: 'status-response',
  XMLGatewayDeleteScheduled_Response: 'delete-response',
  XMLGateway_Replies: 'replies-response',
  XMLGateway_SCmessages: 'short-code-response',
}
const answers = new Map<Schema, Set<string>>()

const stop = watchAnswers(({ method }, response, body) => {
  if (method === 'HEAD' || !String(response.getHeader('content-type')).startsWith('text/xml')) return
  const schema = SCHEMA[/^<\?xml[^>]*\?><(\w+)/.exec(body)?.[1] ?? '']
  if (schema === undefined) throw new Error(`an answer without a schema: ${body.slice(0, 200)}`)
  answers.set(schema, (answers.get(schema) ?? new Set()).add(body))
})

// Validates all responses of a test file at once, because each run of the validator takes 0.2 s regardless of the
// number of documents.
afterAll(async () => {
  stop()
  const found = await Promise.all([...answers].map(([schema, documents]) => complaints(schema, [...documents])))
  expect(found.flat().slice(0, 10)).toEqual([])
}, 60_000)
