import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anAccount, anOrder, numbers } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'
import { endpointsBetween, requestsIn } from './read-requests.ts'

const lines = (endpoint: string, fast: number, slow: number, status = '200') =>
  [
    ['0.1', fast],
    ['1', fast + slow],
    ['+Inf', fast + slow],
  ]
    .map(
      ([le, count]) =>
        `http_request_duration_seconds_bucket{le="${le}",endpoint="${endpoint}",status="${status}"} ${count}`,
    )
    .join('\n')

test('each endpoint has its requests per second and 95th percentile, over all servers and statuses', () => {
  const before = [lines('/send', 100, 0), lines('/send', 500, 500)].map(requestsIn)
  const after = [
    `${lines('/send', 180, 0)}\n${lines('/send', 10, 0, '400')}\n${lines('/idle', 0, 0)}`,
    lines('/send', 10, 0),
  ]
  const figures = endpointsBetween(before, after.map(requestsIn), 10)
  // The second server was restarted.
  expect(figures).toEqual([{ endpoint: '/send', perSecond: 10, slowSeconds: 0.1 }])
  const slow = endpointsBetween([], [requestsIn(lines('/send', 90, 10))], 1)
  expect(slow).toEqual([{ endpoint: '/send', perSecond: 100, slowSeconds: 1 }])
})

test('without a terminal, or for a program, one reading is printed: due messages, busiest accounts, and endpoints', async () => {
  const operator = anOperator()
  const { ports } = operator
  const account = await anAccount(ports)
  await ports.messages.accept(anOrder(account.id, { to: numbers(3) }))
  await ports.accountRates.report('1', [{ account: account.id, requests: 2, messages: 3 }])
  let count = 0
  const server = createServer((_request, response) => response.end(lines('/send', (count += 10), 0)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    expect(await operator.row('top', '--every', '1', '--metrics', url)).toMatchObject({
      requestRate: 2,
      messageRate: 3,
      dueNow: 3,
      accounts: [{ account: account.id, messageRate: 3 }],
      routes: [{ routeName: null, dueNow: 3 }],
      carriers: [],
      endpoints: [{ endpoint: '/send', requestRate: 10, slowSeconds: 0.1 }],
    })
    expect((await operator.run(['top'])).out).toMatch(/^Requests 2\.0\/s +accepted 3\.0\/s +due 3\n\nROUTE +SINGLE/)
  } finally {
    server.close()
  }
  const gone = await operator.run(['top', '--metrics', url])
  expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('does not answer')])
})
