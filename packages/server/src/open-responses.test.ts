import fc from 'fast-check'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { OpenResponses } from './open-responses.ts'

const request = new IncomingMessage(new Socket())

test('it holds what a set holds, whatever comes and goes', () => {
  const steps = fc.array(fc.record({ adds: fc.boolean(), at: fc.nat(9) }), { maxLength: 100 })
  fc.assert(
    fc.property(steps, (all) => {
      const responses = Array.from({ length: 10 }, () => new ServerResponse(request))
      const [open, expected] = [new OpenResponses(), new Set<ServerResponse>()]
      for (const { adds, at } of all) {
        const response = responses[at]
        if (response === undefined || (adds && expected.has(response))) continue
        if (adds) {
          open.add(response)
          expected.add(response)
        } else {
          open.delete(response)
          expected.delete(response)
        }
      }
      expect(open.size).toBe(expected.size)
      expect(new Set(open).size).toBe(expected.size)
      expect([...open].filter((one) => !expected.has(one))).toHaveLength(0)
    }),
  )
})
