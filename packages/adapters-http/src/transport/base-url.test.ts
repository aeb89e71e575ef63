import { baseUrlProblem } from './base-url.ts'

test.each([
  ['https://sms.example', []],
  ['https://sms.example/base', []],
  ['http://localhost:8080', []],
  ['http://127.0.0.1:8080', []],
  ['http://127.9.9.9', []],
  ['http://[::1]:8080', []],
  ['http://192.168.1.7:8080', ['192.168.0.0/16']],
  ['http://192.168.1.7:8080', ['10.0.0.0/8', '192.168.1.7']],
  ['http://[fd00::7]', ['fd00::/8']],
])('%s is accepted with %j', (url, allow) => {
  expect(baseUrlProblem(url, allow)).toBeUndefined()
})

test.each([
  ['sms.example', [], 'a URL such as'],
  ['ftp://sms.example', [], 'a URL such as'],
  ['https://user:secret@sms.example', [], 'user and password'],
  ['https://sms.example/?a=1', [], 'without a query'],
  ['http://sms.example', ['0.0.0.0/0'], 'plain http'],
  ['http://192.168.1.7', [], 'plain http'],
  ['http://192.168.1.7', ['192.168.0.0/24'], 'plain http'],
  ['http://127.0.0.1.example', [], 'plain http'],
  ['http://[fd00::7]', ['10.0.0.0/8'], 'plain http'],
])('%s is refused with %j: %s', (url, allow, problem) => {
  expect(baseUrlProblem(url, allow)).toContain(problem)
})
