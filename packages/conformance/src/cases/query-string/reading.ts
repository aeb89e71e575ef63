import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, header } from '../../expectations.ts'
import { balance, fill, price, schedule } from '../../verbs.ts'
import { idsOf, numbersOf, sendQuery } from './sending.ts'

const form = [['Content-Type', 'application/x-www-form-urlencoded']] as const

/** Paths of the interface, with the complete answer to wrong credentials (spec 4.2; ruling 3.3). */
export const aspPaths: Readonly<Record<string, string>> = {
  'auth.asp': 'Login=FAIL',
  'credits.asp': 'Credits=FAIL',
  'batchmessage.asp': 'FAIL&',
  'requestbatch.asp': 'FAIL&',
  'deletescheduled.asp': 'FAIL&',
  'httpgetreplies.asp': 'FAIL&',
  'httpgetscmessages.asp': 'FAIL&',
  'listoptouts.asp': 'FAIL&',
  'creditstransfer.asp': 'Transfer=invalidUser',
}

const mixedCase = (text: string): string =>
  Array.from(text, (one, i) => (i % 2 === 0 ? one.toUpperCase() : one.toLowerCase())).join('')

export const readingCases: readonly Case[] = [
  ...Object.entries(aspPaths).map(([path, wrong]): Case => ({
    of: ['3.3', '3.1', '3.2', 'spec 7.2', 'spec 4.2'],
    title: `${path}: wrong and missing credentials are ${wrong}, in any letter case of the path; methods but GET and POST are 405`,
    run: async (gateway) => {
      for (const name of [path, path.toUpperCase(), mixedCase(path)]) {
        expectAsp(await gateway.query(name, 'apikey=wrong'), wrong)
        expectAsp(await gateway.query(name, ''), wrong)
      }
      expectAsp(await gateway.raw('asp', { target: `/API/${path}?apikey=wrong` }), wrong)
      for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS'])
        expectEqual((await gateway.query(path, `apikey=${gateway.main.key}`, { method })).status, 405, method)
      const head = await gateway.query(path, `apikey=${gateway.main.key}`, { method: 'HEAD' })
      expectEqual([head.status, head.body.length], [405, 0])
    },
  })),
  {
    of: ['3.3', '3.1', 'spec 5, rule 3', 'spec 1', 'spec 4.2'],
    title: 'auth.asp: a key or a pair, or both if they agree; a repeated one, or two that do not agree, are wrong',
    run: async (gateway) => {
      const { key, user, password } = gateway.main
      const word = encodeURIComponent(password)
      const [ok, fail] = ['Login=OK', 'Login=FAIL']
      for (const [query, login] of [
        [`apikey=${key}`, ok],
        [`user=${user}&password=${word}`, ok],
        [`apikey=${key}&user=${user}&password=${word}`, ok],
        [`apikey=&user=${user}&password=${word}`, ok],
        [`apikey=${key}&user=&password=`, ok],
        [`apikey=%20${key}+&user=%20`, ok],
        [`APIKEY=${key}`, ok],
        [`uSeR=${user}&PassWord=${word}`, ok],
        [`apikey=${key}&apikey=${key}`, fail],
        [`apikey=${key}&ApiKey=x`, fail],
        [`user=${user}`, fail],
        [`password=${word}`, fail],
        [`apikey=${gateway.sub.key}&user=${user}&password=${word}`, fail],
        [`user=${user}&user=${user}&password=${word}`, fail],
        [`apikey=${key}%00`, fail],
      ] as const)
        expectAsp(await gateway.query('auth.asp', query), login)
    },
  },
  {
    of: ['3.2'],
    title: 'an answer has a Content-Length and no line break; single pairs end without &',
    run: async (gateway) => {
      for (const [path, text] of [
        ['auth.asp', /^Login=OK$/],
        ['credits.asp', /^Credits=\d+$/],
        ['creditstransfer.asp', /^Transfer=invalidFromAccount$/],
        ['batchmessage.asp', /^Error="No message given"$/],
      ] as const) {
        const answer = await gateway.asp(path)
        expectAsp(answer, text)
        expectEqual(header(answer, 'content-length'), String(answer.body.length))
      }
    },
  },
  {
    of: ['3.1', 'spec 7.2'],
    title: 'a POST is read as its query, then its form; one line break at its end is not part of the last value',
    run: async (gateway) => {
      const { key } = gateway.main
      const post = (query: string, body: string, headers: readonly (readonly [string, string])[] = form) =>
        gateway.query('auth.asp', query, { method: 'POST', headers, body })
      for (const body of [`apikey=${key}`, `x=1&apikey=${key}\r\n`, `apikey=${key}\n`])
        expectAsp(await post('', body), 'Login=OK')
      expectAsp(await post(`apikey=${key}`, ''), 'Login=OK')
      expectAsp(await post(`apikey=${key}`, `apikey=${key}`), 'Login=FAIL')
      expectAsp(await post('', `apikey=${key}`, [['Content-Type', 'text/plain']]), 'Login=FAIL')
      expectAsp(await post(`apikey=${key}`, 'apikey=wrong', [['Content-Type', 'application/json']]), 'Login=OK')
      const first = await gateway.query('batchmessage.asp', `apikey=${key}&numbers=123`, {
        method: 'POST',
        headers: form,
        body: 'message=Hi&numbers=456\n',
      })
      expectAsp(first, '123=BADDEST&456=BADDEST&')
    },
  },
  {
    of: ['3.1'],
    title: 'a form of 64 kB is accepted, one more byte is not; a request line and headers of nearly 64 kB are accepted',
    run: async (gateway) => {
      const { key } = gateway.main
      const body = (bytes: number) => `apikey=${key}&x=`.padEnd(bytes, 'x')
      const post = (bytes: number) =>
        gateway.query('auth.asp', '', { method: 'POST', headers: form, body: body(bytes) })
      expectAsp(await post(65_536), 'Login=OK')
      expectEqual((await post(65_537)).status === 200, false)
      expectAsp(await gateway.query('auth.asp', body(64_000)), 'Login=OK')
      const headers = [['X-Long', 'x'.repeat(60_000)]] as const
      expectAsp(await gateway.query('auth.asp', `apikey=${key}`, { headers }), 'Login=OK')
    },
  },
  {
    of: ['3.1', '3.4', '3.5'],
    title:
      'repeated numbers and messageid parameters are joined; of other repeated ones the first counts; unknown ones are ignored',
    run: async (gateway) => {
      const { key } = gateway.main
      expectAsp(
        await gateway.query(
          'batchmessage.asp',
          `unknown=1&numbers=1;2&apikey=${key}&NUMBERS=3&message=a&message=&numbers=;4;`,
        ),
        '1=BADDEST&2=BADDEST&3=BADDEST&4=BADDEST&',
      )
      expectAsp(
        await gateway.query('batchmessage.asp', `numbers=1&apikey=${key}&message=&message=a`),
        'Error="No message given"',
      )
      expectAsp(
        await gateway.query('requestbatch.asp', `messageid=x&apikey=${key}&messageid=y;&MessageID=z`),
        'x=NOTFOUND&y=NOTFOUND&z=NOTFOUND&',
      )
    },
  },
  {
    of: ['3.1', '3.6', '1.8'],
    title: 'a % that begins no escape stays, a + is a space, and values are trimmed; echoed values are escaped again',
    run: async (gateway) => {
      const { key } = gateway.main
      const echoed = async (number: string) =>
        (await gateway.query('batchmessage.asp', `apikey=${key}&message=a&numbers=${number}`)).text
      expectEqual(
        await echoed('+27%20;%2B27;100%;%zz;%4'),
        '27=BADDEST&+27=BADDEST&100%25=BADDEST&%25zz=BADDEST&%254=BADDEST&',
      )
      expectEqual(await echoed('a%26b%3Dc%25d%0D%0A%09e'), 'a%26b%3Dc%25d%0D%0A%09e=BADDEST&')
      expectEqual(await echoed('caf%C3%A9;%E2%82%AC"<>'), 'café=BADDEST&€"<>=BADDEST&')
    },
  },
  {
    of: ['3.1'],
    title: 'a parameter that is not UTF-8 is windows-1252, and only that one',
    run: async (gateway) => {
      const { key } = gateway.main
      expectAsp(
        await gateway.query('requestbatch.asp', `apikey=${key}&messageid=caf%E9;%80`),
        'café=NOTFOUND&€=NOTFOUND&',
      )
      expectAsp(await gateway.query('requestbatch.asp', `apikey=${key}&x=%E9&messageid=caf%C3%A9`), 'café=NOTFOUND&')
    },
  },
  {
    of: ['3.1'],
    title: 'a value with %00 is refused like a missing one',
    run: async (gateway) => {
      const query = `apikey=${gateway.main.key}`
      expectAsp(
        await gateway.query('batchmessage.asp', `${query}&message=a%00b&numbers=123`),
        'Error="No message given"',
      )
      expectAsp(
        await gateway.query('batchmessage.asp', `${query}&message=ab&numbers=123;%00`),
        'Error="No numbers supplied"',
      )
      expectAsp(await gateway.query('requestbatch.asp', `${query}&messageid=1%00`), 'Error="No message ids supplied"')
    },
  },
  {
    of: ['3.1'],
    title: 'letters beyond A to Z are not folded: a long s or a Kelvin sign makes another name',
    run: async (gateway) => {
      expectAsp(await gateway.query('auth.asp', `api%E2%84%AAey=${gateway.main.key}`), 'Login=FAIL')
      expectAsp(await gateway.query('auth.asp', `api%4Bey=${gateway.main.key}`), 'Login=OK')
    },
  },
  {
    of: ['3.8', 'spec 4.2'],
    title: 'an unknown path under /api/ is 404 in plain text',
    run: async (gateway) => {
      for (const name of ['nothing.asp', 'auth.aspx', 'auth', 'sendsms.asp', 'auth.asp/x']) {
        const answer = await gateway.query(name, `apikey=${gateway.main.key}`)
        expectEqual([answer.status, header(answer, 'content-type')?.startsWith('text/plain')], [404, true], name)
      }
    },
  },
  {
    of: ['3.5', '3.4', 'spec 8'],
    title: '100 numbers are accepted and 101 are refused as a whole; empty pieces do not count',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      const to = (count: number) => Array.from({ length: count }, () => number).join(';')
      expectEqual(numbersOf(await sendQuery(gateway, `numbers=${to(100)};;%20;&message=a`)).length, 100)
      const before = await fill(gateway, Math.ceil((101 * price(gateway)) / 10))
      expectAsp(await sendQuery(gateway, `numbers=${to(101)}&message=a`, sub), 'Error="Too many numbers supplied"')
      expectEqual(await balance(gateway, sub), before)
    },
  },
  {
    of: ['3.5', 'spec 8', '3.4'],
    title: '100 ids are accepted and 101 are refused as a whole, for status and delete; no id is an error',
    run: async (gateway) => {
      const id = await schedule(gateway)
      const ids = (count: number) => Array.from({ length: count }, (_, i) => (i === 0 ? id : 9e15 + i)).join(';')
      for (const path of ['requestbatch.asp', 'deletescheduled.asp']) {
        expectAsp(await gateway.asp(path, { messageid: ids(101) }), 'Error="Too many message ids supplied"')
        for (const messageid of ['', ';', ' ; ;'])
          expectAsp(await gateway.asp(path, { messageid }), 'Error="No message ids supplied"')
        expectAsp(await gateway.asp(path), 'Error="No message ids supplied"')
      }
      expectEqual((await gateway.asp('requestbatch.asp', { messageid: ids(100) })).text.split('&').length, 101)
      expectEqual(idsOf(await gateway.asp('deletescheduled.asp', { messageid: ids(100) }), 'DELETED').length, 1)
    },
  },
  {
    of: ['3.2', 'spec 1', 'spec 4.1', 'spec 4.2, rule 6'],
    title: 'nothing to return is an empty body, and so are the short code messages of an account without a code',
    run: async (gateway) => {
      await gateway.asp('httpgetreplies.asp', {}, gateway.otherSub)
      for (const path of ['httpgetreplies.asp', 'httpgetscmessages.asp']) {
        const answer = await gateway.asp(path, {}, gateway.otherSub)
        expectAsp(answer, '')
        expectEqual(header(answer, 'content-length'), '0')
      }
    },
  },
  {
    of: ['3.1'],
    title: 'a query over HTTP/1.0, and a form in many segments or chunks, get the usual answers',
    run: async (gateway) => {
      expectAsp(await gateway.query('auth.asp', `apikey=${gateway.main.key}`, { version: '1.0' }), 'Login=OK')
      const post = { method: 'POST', headers: form, body: `x=${'y'.repeat(300)}&apikey=${gateway.main.key}` }
      expectAsp(await gateway.query('auth.asp', '', { ...post, as: { segments: 20 } }), 'Login=OK')
      expectAsp(await gateway.query('auth.asp', '', { ...post, as: 'chunked' }), 'Login=OK')
    },
  },
]
