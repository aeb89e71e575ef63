import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryLog } from '../testing/memory-log.ts'
import { hideSecrets } from './hide-secrets.ts'
import { writeOut } from './log.ts'
import { pathOf } from './request-parts.ts'

describe('log', () => {
  const request = (url: string): IncomingMessage => {
    const message = new IncomingMessage(new Socket())
    Object.assign(message, { method: 'POST', url, headers: { authorization: 'hunter2' } })
    return message
  }

  test('a line is one object of JSON with its level in words, its time, its process and its message', () => {
    const { log, lines } = memoryLog()
    log.info({ count: 3, id: 12n }, 'hello')
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.any(String) as string,
        pid: process.pid,
        name: 'test',
        count: 3,
        id: '12',
        msg: 'hello',
      },
    ])
  })

  test.each(
    ['password', 'dbPassword', 'apiKey', 'api_key', 'authorization', 'Cookie', 'token', 'secret', 'text', 'messageText']
      .concat(['body', 'headers', 'query', 'connectionString', 'DATABASE_URL', 'values'])
      .map((name) => [name]),
  )('a field named %s is hidden at any depth, in lists and in child loggers', (name) => {
    const { log, text } = memoryLog()
    log.child({ [name]: 'hunter2' }).info({ [name]: 'hunter2', a: { b: [{ [name]: ['hunter2'] }] } }, 'x')
    expect(text()).not.toContain('hunter2')
    expect(text()).toContain('[hidden]')
  })

  test('a request shows its method and path, never its query, headers or body', () => {
    const { log, lines, text } = memoryLog()
    log.info({ request: request('/api/auth.asp?user=me&password=hunter2') }, 'x')
    expect(lines()[0]).toMatchObject({ request: { method: 'POST', path: '/api/auth.asp' } })
    expect(text()).not.toContain('hunter2')
  })

  test.each([
    ['/a/b', '/a/b'],
    ['/a?password=x', '/a'],
    ['/a%3Fpassword=x', '/a'],
    ['/a;password=x', '/a'],
    ['/a&password=x', '/a'],
    ['http://user:pass@host/a?x', '/a'],
    ['/a.asp%23apikey=x', '/a.asp'],
    ['/a%3Dx', '/a'],
    ['/a=x', '/a'],
    ['/a.asp/user/password', '/a.asp'],
    ['/api/rest/v1/sms/outgoing/send', '/api/rest/v1/sms/outgoing/send'],
    ['*', '*'],
    ['/carriers/main/0123456789abcdef0123456789abcdef?a=1', '/carriers/main/…'],
  ])('the path of %s is %s', (url, path) => {
    expect(pathOf(request(url))).toBe(path)
  })

  test('an error shows its stack, code and causes, but no password and none of its other fields', () => {
    const { log, lines, text } = memoryLog()
    const cause = Object.assign(new Error('cannot reach postgres://me:hunter2@db/x'), { code: '08006' })
    log.error(
      { err: Object.assign(new Error('failed', { cause }), { detail: 'hunter2', parameters: ['hunter2'] }) },
      'x',
    )
    log.error(cause)
    expect(text()).not.toContain('hunter2')
    expect(lines()[0]).toMatchObject({
      err: { message: 'failed', stack: expect.stringContaining('log.test') as string, cause: { code: '08006' } },
    })
    expect(lines()[1]?.msg).toBe('cannot reach postgres://me:***@db/x')
  })

  test('an object that is not plain is shown by its class only', () => {
    class Pool {
      readonly inner = 'hunter2'
    }
    const { log, lines } = memoryLog()
    log.info({ pool: new Pool(), bytes: Buffer.from('hunter2'), set: new Set(['hunter2']) }, 'x')
    expect(lines()[0]).toMatchObject({ pool: '[Pool]', bytes: '[Buffer]', set: '[Set]' })
  })

  test('a circular reference and a huge value do not break a line', () => {
    const { log, lines } = memoryLog()
    const circle: Record<string, unknown> = { big: 'x'.repeat(1e6) }
    circle.self = circle
    log.info(circle, 'x')
    expect(lines()).toHaveLength(1)
  })

  test.each([
    ['postgres://me:p@ss/w:rd@db/x', 'postgres://me:***@db/x'],
    ['redis://:pw@host', 'redis://:***@host'],
    ['http://host:80/a', 'http://host:80/a'],
    ['?user=a&password=b&apikey=c&x=d', '?user=a&password=***&apikey=***&x=d'],
    [`host=a password='b c' user=d`, 'host=a password=*** user=d'],
    ['Authorization: Bearer abcdefghij', 'Authorization: Bearer ***'],
    ['/a/gw_abcdefgh-ij/b', '/a/gw_***/b'],
    ['signed with whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/==.', 'signed with whsec_***.'],
    ['SECRETS_KEY=abc,def x', 'SECRETS_KEY=*** x'],
    ['proxy http://me:p%40ss@proxy:3128', 'proxy http://me:***@proxy:3128'],
  ])('%s is shown as %s', (text, shown) => {
    expect(hideSecrets(text)).toBe(shown)
  })

  test.each(['password=a"b\\c', "password='a\"b' x", 'x://u:a"\\@h', 'token=\u2028"', '"password=\n"'])(
    'a line of JSON with %j stays JSON',
    (text) => {
      expect(() => JSON.parse(hideSecrets(JSON.stringify({ text, after: 1 }))) as unknown).not.toThrow()
    },
  )

  // With a pattern that backtracks at each match this test would take half a minute.
  test.each(['://b:', 'password=', "password='", 'Bearer ', 'whsec_'])(
    '200 kB of %j do not block the process',
    (piece) => {
      const start = process.cpuUsage()
      hideSecrets(piece.repeat(200_000 / piece.length))
      expect(process.cpuUsage(start).user / 1e6).toBeLessThan(5)
    },
  )
})

describe('standard output', () => {
  test('a written text is complete at once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'out-'))
    const fd = openSync(join(folder, 'log'), 'w')
    expect([writeOut('one\n', fd), writeOut('zwei äöü\n', fd), writeOut('', fd)]).toEqual([true, true, true])
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('one\nzwei äöü\n')
    closeSync(fd)
    await rm(folder, { recursive: true })
  })

  const onLinux = process.platform === 'linux' ? test : test.skip
  onLinux('a full disk returns false and throws nothing', () => {
    const fd = openSync('/dev/full', 'w')
    expect([writeOut('one\n', fd), writeOut('two\n', fd)]).toEqual([false, false])
    closeSync(fd)
  })

  test('a closed descriptor returns false and throws nothing', () => {
    const fd = openSync(process.execPath, 'r')
    closeSync(fd)
    expect(writeOut('one\n', fd)).toBe(false)
  })
})
