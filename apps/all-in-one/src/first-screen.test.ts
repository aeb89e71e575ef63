import { welcome } from './curl-lines.ts'

const demo = { id: 1, login: 'demo', password: 'pass', apiKey: 'gw_key', subLogin: 'demo-sub' } as Parameters<
  typeof welcome
>[1]

test('with simulated carriers a new gateway prints what to try; with real ones it prints nothing that would be sent', () => {
  const [simulated, real] = [true, false].map((isSimulated) => welcome('http://127.0.0.1:8080', demo, isSimulated))
  expect(simulated).toContain('curl -s')
  expect(simulated).toContain('The simulated carrier delivers everything')
  expect(real).not.toContain('curl')
  expect(real).not.toContain('simulated')
  expect(real).toContain('what this account sends reaches people')
  for (const text of [simulated, real]) expect(text).toContain('API key   gw_key')
})
