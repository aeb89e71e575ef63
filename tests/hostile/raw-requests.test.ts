import { asp, restBalance, restSend } from '../support/clients.ts'
import { get, post } from './attack.ts'
import { deploy, layouts, type Deployment } from './deployment.ts'
import { inTurn } from '../support/in-turn.ts'
import { bodyOf, raw } from './raw.ts'

// Tests of the contract's rules about requests that usual clients cannot write. The requests are written byte by byte
// to the running programs.
const envelope = (status: number, message: string) =>
  new RegExp(
    `^\\{"timeStamp":"\\d{17}","version":"1.0","statusCode":${status},"errorMessage":"${message}[^"]*","errorCode":"[a-z-]+"\\}$`,
  )
const form = 'Content-Type: application/x-www-form-urlencoded\r\n'

describe.each(inTurn(layouts))('%s', (layout) => {
  let deployment: Deployment
  let key: string
  beforeAll(async () => {
    deployment = await deploy(layout)
    key = deployment.victim('rest').key
  }, 120_000)
  afterAll(() => deployment.stop())

  const toAsp = (bytes: string) => raw(deployment.serving('asp').url, bytes)
  const toRest = (bytes: string) => raw(deployment.serving('rest').url, bytes)
  const toXml = (bytes: string) => raw(deployment.serving('xml').url, bytes)
  const costOf = async (send: () => Promise<unknown>) => {
    const before = await restBalance(deployment.victim('rest'))
    await send()
    return before - (await restBalance(deployment.victim('rest')))
  }

  test('HTTP/1.0 gets a Content-Length (ruling 3.2)', async () => {
    const document = `<Svc_Replies><ApiKey>${key}</ApiKey></Svc_Replies>`
    const answers = [
      await toAsp(`GET /api/credits.asp?apikey=${key} HTTP/1.0\r\n\r\n`),
      await toRest(`GET /api/rest/v1/credits/balance HTTP/1.0\r\nAuthorization: ${key}\r\n\r\n`),
      await toXml(post('/api/xmlgetreplies.asp', '', document).replace('HTTP/1.1', 'HTTP/1.0')),
    ]
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 200 /)
      expect(Number(/\r\nContent-Length: (\d+)\r\n/i.exec(answer)?.[1])).toBe(bodyOf(answer).length)
    }
  })

  test('one line break at the end of a form is not part of the last value (ruling 3.1)', async () => {
    const send = (end: string) => () =>
      toAsp(post('/api/batchmessage.asp', form, `apikey=${key}&numbers=27825550101&message=${'x'.repeat(160)}${end}`))
    expect(await costOf(send(''))).toBe(1)
    expect(await costOf(send('\r\n'))).toBe(1)
    expect(await costOf(send('\r\n\r\n'))).toBe(2)
  })

  test('white space around credentials is ignored, and only A to Z of names compare regardless of case (ruling 3.1)', async () => {
    const credits = /^Credits=\d+$/
    expect(bodyOf(await toAsp(get(`/api/credits.asp?apikey=%20%09${key}%0D%0A`)))).toMatch(credits)
    expect(bodyOf(await toAsp(get(`/api/credits.asp?APIKEY=+${key}`)))).toMatch(credits)
    expect(bodyOf(await toAsp(get(`/api/credits.asp?api%E2%84%AAey=${key}`)))).toBe('Credits=FAIL')
  })

  test('bytes above 127 in a request line are refused in the form of the interface (rulings 1.31, 3.1)', async () => {
    const answer = await toAsp(get(`/api/credits.asp?apikey=${key}&message=\xe9`))
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(bodyOf(answer)).toBe('Error="The request line has bytes above 127; they must be percent-encoded."')
    expect(bodyOf(await toRest(get('/api/rest/v1/credits/balance?\xe9')))).toMatch(
      envelope(400, 'The request line has bytes above 127'),
    )
  })

  test('requests under the REST prefix that Node refuses get the envelope (ruling 2.1)', async () => {
    const path = '/api/rest/v1/credits/balance'
    const unknown = await toRest(get(`${path}?a=b`).replace('GET', 'FOO'))
    expect(unknown).toMatch(/^HTTP\/1\.1 405 [^]*\r\nAllow: GET\r\n/)
    expect(bodyOf(unknown)).toMatch(envelope(405, 'This path requires the method GET; the request used FOO.'))
    expect(bodyOf(await toRest(get('/api/rest/v1/nothing').replace('GET', 'FOO')))).toMatch(envelope(404, ''))
    expect(bodyOf(await toRest(get(path, 'Expect: x\r\n')))).toMatch(envelope(417, ''))
    const overlong = await toRest(get(path, `X: ${'x'.repeat(70_000)}\r\n`))
    expect(overlong).toMatch(/^HTTP\/1\.1 431 /)
    expect(bodyOf(await toRest(get(path, 'X: y\r\n'.repeat(3000))))).toMatch(
      envelope(431, 'The request has more than 1000 header lines'),
    )
    expect(bodyOf(await toRest(get(path, 'Host: y\r\n')))).toMatch(envelope(400, 'The request has more than one Host'))
    // The path is not known here, because the request line came in an earlier packet. A process that serves only REST
    // still answers in the form of REST.
    if (layout === 'separate processes') expect(bodyOf(overlong)).toMatch(envelope(431, ''))
  })

  test('a key behind 1000 header lines is never ignored: nothing is sent', async () => {
    const body = JSON.stringify({ message: 'x', recipients: [{ mobileNumber: '27825550101' }] })
    const begin = `Authorization: ${key}\r\nContent-Type: application/json\r\n`
    const send = (lines: number) => () =>
      toRest(
        post('/api/rest/v1/sms/outgoing/send', `${begin}${'X: y\r\n'.repeat(lines)}Idempotency-Key: late\r\n`, body),
      ).then((answer) => answers.push(answer.slice(0, 12)))
    const answers: string[] = []
    expect(await costOf(send(3000))).toBe(0)
    expect(await costOf(send(900))).toBe(1)
    expect(await costOf(send(500))).toBe(0)
    expect(answers).toEqual(['HTTP/1.1 431', 'HTTP/1.1 200', 'HTTP/1.1 200'])
  })

  test.each([
    ['3000 header lines', 'X: y\r\n'.repeat(3000), 431],
    ['two hosts', 'Host: y\r\n', 400],
  ])('%s are refused by every process', async (_what, headers, status) => {
    for (const { url } of deployment.processes)
      for (const path of ['/health/live', '/api/credits.asp', '/nothing'])
        expect(await raw(url, get(path, headers))).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })

  test('every process answers a path of an interface in the form of that interface (rulings 1.31, 3.8)', async () => {
    const [rest, xml, queryString] = ['/api/rest/v1/nothing', '/api/xmlgetstatus.asp', '/api/credits.asp']
    for (const { url } of deployment.processes) {
      const twoHosts = async (path: string) => bodyOf(await raw(url, get(path, 'Host: y\r\n')))
      expect(await twoHosts(rest)).toMatch(envelope(400, 'The request has more than one Host'))
      expect(await twoHosts(xml)).toContain('<XMLGatewayStatus_Response><Error>')
      expect(await twoHosts(queryString)).toMatch(/^Error="The request has more than one Host/)

      const unknown = await raw(url, get(rest))
      expect(unknown).toMatch(/^HTTP\/1\.1 404 /)
      expect(bodyOf(unknown)).toMatch(envelope(404, 'This path does not exist'))
      const plain = await raw(url, get('/api/nothing'))
      expect(plain).toMatch(/^HTTP\/1\.1 404 [^]*\r\nContent-Type: text\/plain; charset=utf-8\r\n/i)
    }
  })

  test('a UTF-8 document that declares UTF-16 is read as UTF-8, and an ID with a no-break space is invalid', async () => {
    const ids = (id: string) => `<MessageIDs><MessageID><ID>${id}</ID></MessageID></MessageIDs>`
    const status = (id: string) => {
      const document = `<?xml version="1.0" encoding="utf-16"?><Svc_StatusRequest><ApiKey>${key}</ApiKey>${ids(id)}`
      const whole = `${document}</Svc_StatusRequest>`
      return toXml(post('/api/xmlgetstatus.asp', '', whole, whole.length))
    }
    expect(await status('999999999999')).toContain('<Status>NOTFOUND</Status>')
    expect(await status(' 999999999999 ')).toContain('<Status>NOTFOUND</Status>')
    expect(await status('\xc2\xa01')).toContain('<Error>Not Valid XML Document</Error>')
  })

  test('look-alikes are replaced where the text then fits GSM 7-bit, and only there (ruling 1.7)', async () => {
    const cost = (text: string) => costOf(() => restSend(deployment.victim('rest'), ['27825550101'], text))
    expect(await cost(`${'ж'.repeat(69)}…`)).toBe(1)
    expect(await cost(`${'x'.repeat(157)}…`)).toBe(1)
    expect(await cost(`${'x'.repeat(158)}…`)).toBe(2)
  })

  test('line breaks and markup in a request forge nothing in an answer', async () => {
    const forged = '1\r\nSet-Cookie: x\r\n\r\nLogin=OK&2=3'
    const answers = [
      await toAsp(get(`/api/batchmessage.asp?apikey=${key}&message=x&numbers=${encodeURIComponent(forged)}`)),
      await toAsp(get(`/api/requestbatch.asp?apikey=${key}&messageid=${encodeURIComponent(forged)}`)),
      await toAsp(get(`/api/deletescheduled.asp?apikey=${key}&messageid=${encodeURIComponent(forged)}`)),
    ]
    for (const answer of answers) {
      expect(answer.split('\r\n\r\n')).toHaveLength(2)
      expect(answer.split('\r\n\r\n')[0]).not.toContain('Set-Cookie')
      expect(bodyOf(answer).match(/[&=]/g)).toHaveLength(2)
    }
    const cli = '&lt;/CLI&gt;&lt;Error&gt;x&lt;/Error&gt;&#13;&#10;]]&gt;'
    const inside = `<MessageIDs><MessageID><ID>1</ID><CLI>${cli}</CLI></MessageID></MessageIDs>`
    const echoed = await toXml(
      post('/api/xmlgetstatus.asp', '', `<Svc_StatusRequest><ApiKey>${key}</ApiKey>${inside}</Svc_StatusRequest>`),
    )
    expect(echoed).toContain('<CLI>&lt;/CLI')
    expect(echoed).not.toMatch(/<Error>|\]\]>/)
    const recipients = [{ mobileNumber: '27825550101', clientMessageId: '"}]\r\n\u0007\u2028' }]
    const sent = bodyOf(
      await toRest(
        post(
          '/api/rest/v1/sms/outgoing/send',
          `Authorization: ${key}\r\nContent-Type: application/json\r\n`,
          JSON.stringify({ message: 'x', recipients }).replace('\u2028', '\\u2028'),
        ),
      ),
    )
    const text = Buffer.from(sent, 'latin1').toString()
    expect(text).not.toMatch(/\p{Cc}/u)
    expect(JSON.parse(text)).toMatchObject({ recipients: [{ ...recipients[0] }] })
  })

  test('line breaks and markup in a request forge nothing in a log: each line is one JSON object', async () => {
    const line = '%0D%0A{"level":"fatal","msg":"forged"}'
    await toAsp(get(`/api/${line}`))
    await toAsp(get(`/api/credits.asp?apikey=${line}`))
    await asp(deployment.victim('asp'), 'requestbatch.asp', { messageid: '\r\n{"level":"fatal"}' })
    for (const process of deployment.processes) {
      const lines = process
        .output()
        .split('\n')
        .filter((one) => one.startsWith('{'))
      for (const each of lines) expect(() => JSON.parse(each) as unknown).not.toThrow()
      expect(process.output()).not.toContain('forged')
    }
  })
})
