import { createLog } from './log.ts'
import { measureLogins, warnOfFailedLogins } from './login-reports.ts'
import { createMetrics } from './metrics.ts'

test('metrics report outcomes of log-ins and the number of waiting ones at each scrape', async () => {
  const metrics = createMetrics()
  const counts = { right: 1, wrong: 0 }
  measureLogins(metrics, { logins: { counts }, waiting: () => 3 })
  counts.wrong = 900
  const text = await metrics.registry.metrics()
  expect(text).toContain('gateway_logins_total{outcome="right"} 1\n')
  expect(text).toContain('gateway_logins_total{outcome="wrong"} 900\n')
  expect(text).toContain('gateway_logins_waiting 3\n')
})

test('a line about failed log-ins contains only the account, the network and their number', () => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', name: 'test', destination: { write: (line) => void lines.push(line) } })
  const failed = { account: 7, network: '192.0.2.0/24', failures: 900, login: 'sesame-42' }
  warnOfFailedLogins(log)(failed)
  warnOfFailedLogins(log)({ ...failed, account: null })
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      level: 'warn',
      msg: 'log-ins failed',
      account: 7,
      network: '192.0.2.0/24',
      failures: 900,
    }),
    expect.objectContaining({ level: 'warn', msg: 'log-ins failed', account: null, network: '192.0.2.0/24' }),
  ])
  expect(lines.join()).not.toContain('sesame')
})
