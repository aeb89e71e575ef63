import { setHeader, type Defect } from './defects.ts'

const named = (path: string, name: string): boolean => path.toLowerCase().startsWith(`/api/${name}.asp`)

/** Body of the last replies. The defect returns them again at every further call. */
let lastReplies = ''

/** Mistakes that implementations of the contract might make, each with the cases that must detect it. */
export const plantedDefects: Readonly<Record<string, Defect>> = {
  'the last & of a list is lost': {
    fails: ['one pair per number', 'deletescheduled: DELETED once'],
    answer: (answered) => {
      if (/^[^"]*=[^&]*&$/.test(answered.text)) answered.text = answered.text.slice(0, -1)
    },
  },
  'a wrong method is 404': {
    fails: ['/credits/balance: another method'],
    answer: (answered) => {
      if (answered.status !== 405) return
      answered.status = 404
      answered.text = answered.text.replace('"statusCode":405', '"statusCode":404')
    },
  },
  'a 405 has no Allow': {
    fails: ['each path of webhooks: another method'],
    answer: (answered) => setHeader(answered, 'allow', ''),
  },
  'a 404 has no X-Request-Id': {
    fails: ['every answer has an X-Request-Id'],
    answer: (answered) => {
      if (answered.status === 404) setHeader(answered, 'x-request-id', '')
    },
  },
  'an error has no errorCode': {
    fails: ['statusCode is the HTTP status', 'the same cause has the same errorCode'],
    answer: (answered) => {
      answered.text = answered.text.replace(/,"errorCode":"[^"]*"/, '')
    },
  },
  'an X-Request-Id of any form is taken over': {
    fails: ['an X-Request-Id of 128 characters'],
    answer: (answered, { headers }) => {
      const [, sent] = headers.find(([name]) => name.toLowerCase() === 'x-request-id') ?? []
      if (sent !== undefined) setHeader(answered, 'x-request-id', sent)
    },
  },
  'an empty list is a line break': {
    fails: ['nothing to return is an empty body'],
    answer: (answered, { path }) => {
      if (named(path, 'httpgetreplies') && answered.text === '') answered.text = '\n'
    },
  },
  'HEAD consumes replies': {
    fails: ['the query string returns a reply once'],
    answer: async (_, received, gateway) => {
      if (received.method === 'HEAD' && named(received.path, 'httpgetreplies')) await gateway({ path: received.path })
    },
  },
  'HEAD is answered 200': {
    fails: ['/sms/incoming: another method', 'httpgetreplies.asp: wrong and missing'],
    answer: (answered, received) => {
      if (received.method === 'HEAD') answered.status = 200
    },
  },
  'timeStamp is rounded to the second': {
    fails: ['to the millisecond'],
    answer: (answered) => {
      answered.text = answered.text.replace(/("timeStamp":"\d{14})\d{3}/, '$1000')
    },
  },
  'timeStamp is UTC': {
    fails: ['to the millisecond'],
    answer: (answered) => {
      const stamp = new Date().toISOString().replace(/\D/g, '')
      answered.text = answered.text.replace(/("timeStamp":")\d{17}/, `$1${stamp}`)
    },
  },
  'a delete refunds twice': {
    fails: [
      'delete answers in request order and refunds once',
      'deletescheduled: DELETED once',
      'delete: 1000 ids are accepted',
    ],
    answer: async (answered, _, gateway, { main, sub }) => {
      if (!/"deleted":true|=DELETED&|<Status>DELETED/.test(answered.text)) return
      const transfer = { sendingAccountNumber: main.id, receivingAccountNumber: sub.id, transferQuantity: 1 }
      await gateway({
        method: 'POST',
        path: '/api/rest/v1/credits/transfer',
        headers: [
          ['Authorization', main.key],
          ['Content-Type', 'application/json'],
        ],
        body: JSON.stringify(transfer),
      })
    },
  },
  '100 instead of 100.0': {
    fails: ['the balance is the envelope'],
    answer: (answered) => {
      answered.text = answered.text.replace(/("creditBalance":\d+)\.0/, '$1')
    },
  },
  'keys in another order': {
    fails: ['the balance is the envelope', 'every 404 below the prefix'],
    answer: (answered) => {
      answered.text = answered.text.replace(/("version":"1.0"),("statusCode":\d+)/, '$2,$1')
    },
  },
  'a space after each comma': {
    fails: ['the balance is the envelope'],
    answer: (answered) => {
      answered.text = answered.text.replace('"1.0",', '"1.0", ')
    },
  },
  'ids as strings': {
    fails: ['the answer byte for byte', '/sms/scheduled has waiting messages'],
    answer: (answered) => {
      answered.text = answered.text.replace(/"apiMessageId":(\d+)/g, '"apiMessageId":"$1"')
    },
  },
  'results in another order': {
    fails: ['deletescheduled: DELETED once', 'requestbatch: four parts'],
    answer: (answered, { path }) => {
      if (named(path, 'requestbatch') || named(path, 'deletescheduled'))
        answered.text = (answered.text.match(/[^&]*&/g) ?? []).reverse().join('')
    },
  },
  'no charset': {
    fails: ['an answer has a Content-Length', 'the balance is the envelope'],
    answer: (answered) => {
      for (const [name, value] of answered.headers)
        if (name.toLowerCase() === 'content-type') setHeader(answered, name, value.replace(/;.*/, ''))
    },
  },
  'paths of the query string in their letter case only': {
    fails: ['auth.asp: wrong and missing'],
    answer: (answered, { path }) => {
      const [name = ''] = path.split('?')
      if (name.endsWith('.ASP')) answered.status = 404
    },
  },
  'REST paths in any letter case': {
    fails: ['/sms/outgoing/send: 404 in another letter case'],
    request: (received) => {
      received.path = received.path.toLowerCase()
    },
  },
  'a slash at the end of a path is 404': {
    fails: ['one slash at the end'],
    request: (received) => {
      if (/\/(\?|$)/.test(received.path)) received.path = '/api/rest/v1/nothing'
    },
  },
  'an id of another account is told from an unknown one': {
    fails: ['the status of a waiting, an unknown and a foreign id'],
    answer: (answered) => {
      answered.text = answered.text.replace(/("apiMessageId":\d{1,15},.*?"statusCode":)-2/g, '$1-1')
    },
  },
  'STOP is not honoured': {
    fails: ['STOP is free', 'a number that has opted out'],
    answer: (answered) => {
      answered.text = answered.text
        .replace(
          '"accepted":false,"acceptError":"OPTEDOUT","apiMessageId":null',
          '"accepted":true,"acceptError":"","apiMessageId":1',
        )
        .replace('=OPTEDOUT&', '=1&')
    },
  },
  '401 before 404': {
    fails: ['404 before 405'],
    answer: (answered, { headers }) => {
      if (answered.status !== 404 || headers.some(([name]) => name.toLowerCase() === 'authorization')) return
      answered.status = 401
      answered.text = answered.text.replace('"statusCode":404', '"statusCode":401')
    },
  },
  'a body of exactly 204800 bytes is refused': {
    fails: ['a body of 204800 bytes is accepted'],
    request: (received) => {
      if (received.body.length >= 204_800) received.body = received.body.padEnd(204_801)
    },
  },
  'of 1001 recipients the last one is cut off': {
    fails: ['1000 recipients are accepted'],
    request: (received) => {
      if (!received.path.endsWith('/sms/outgoing/send') || received.body.length < 20_000) return
      const body = JSON.parse(received.body) as { recipients: unknown[] }
      received.body = JSON.stringify({ ...body, recipients: body.recipients.slice(0, 1000) })
    },
  },
  'limit 1001 is read as 1000': {
    fails: ['/sms/scheduled: an invalid offset'],
    request: (received) => {
      received.path = received.path.replace('limit=1001', 'limit=1000')
    },
  },
  'what is not UTF-8 becomes U+FFFD': {
    fails: ['a parameter that is not UTF-8'],
    request: (received) => {
      received.path = received.path.replace('caf%E9', 'caf%EF%BF%BD')
    },
  },
  'a malformed % is dropped': {
    fails: ['a % that begins no escape'],
    request: (received) => {
      received.path = received.path.replace('%zz', 'zz')
    },
  },
  'a DOCTYPE is ignored': {
    fails: ['DOCTYPE, entities, two roots'],
    request: (received) => {
      received.body = received.body.replace(/<!DOCTYPE [^[>]*>/, '')
    },
  },
  'texts of XML answers are escaped twice': {
    fails: ['a send is answered message by message'],
    answer: (answered) => {
      if (answered.text.startsWith('<?xml')) answered.text = answered.text.replace(/&amp;/g, '&amp;amp;')
    },
  },
  'times are read in a zone with summer time': {
    fails: ['times at which the clocks of summer time jump'],
    answer: (answered) => {
      // Moves times in an hour that does not exist in central Europe: between 2 and 3 on the last Sunday of March.
      answered.text = answered.text.replace(/("scheduledTime":"\d{4}03(?:2[5-9]|3[01]))02(?=\d\d")/g, '$103')
    },
  },
  'an XML answer without its declaration': {
    fails: ['any content type and none'],
    answer: (answered) => {
      answered.text = answered.text.replace(/^<\?xml[^>]*\?>/, '')
    },
  },
  'a reply is returned again': {
    fails: ['the query string returns a reply once'],
    answer: (answered, { path }) => {
      if (!named(path, 'httpgetreplies')) return
      if (answered.text === '') answered.text = lastReplies
      else lastReplies = answered.text
    },
  },
  'a short code message is among the replies of REST': {
    fails: ['a message to a code is a short code message'],
    answer: async (answered, received, gateway) => {
      if (!received.path.startsWith('/api/rest/v1/sms/incoming?')) return
      const { text } = await gateway({ ...received, path: '/api/rest/v1/shortcode/incoming?limit=1000' })
      answered.text = text.replace('shortcodeMessages', 'incomingMessages')
    },
  },
  'a wrong quantity wins over the same account': {
    fails: ['each refusal of a transfer'],
    answer: (answered, { path, body }) => {
      if (/transferQuantity(=|":)0/.test(path + body))
        answered.text = answered.text.replace('sameAccount', 'invalidQuantity')
    },
  },
  'do-not-contact is told as an invalid number': {
    fails: ['a do-not-contact number is refused'],
    answer: (answered) => {
      answered.text = answered.text.replace('WASPADNC', 'BADDEST')
    },
  },
  'a trunk prefix after the calling code is accepted': {
    fails: ['a number with a national trunk prefix'],
    request: (received) => {
      const corrected = received.body.replace('"27082123456"', '"27821234567"')
      received.body = corrected.replace('>27082123456<', '>27821234567<')
      received.path = received.path.replace('27082123456', '27821234567')
    },
  },
  'times at GMT+3': {
    fails: ['requestbatch: four parts'],
    answer: (answered, { path }) => {
      if (named(path, 'requestbatch'))
        answered.text = answered.text.replace(
          /;(\d\d):(?=\d\d:\d\d;)/g,
          (_, hour: string) => `;${String((Number(hour) + 1) % 24).padStart(2, '0')}:`,
        )
    },
  },
  'the seventh part is not charged': {
    fails: ['GSM 7-bit: length and parts'],
    answer: (answered) => {
      answered.text = answered.text.replace(/"creditCost":7\.0/g, '"creditCost":6.0')
    },
  },
  'what has left can be deleted no more, and is told as not found': {
    fails: ['deletescheduled: DELETED once', 'a delivered message is DELIVERED'],
    answer: (answered) => {
      answered.text = answered.text
        .replace(/=SENT&/g, '=NOTFOUND&')
        .replace('"deleteError":"SENT"', '"deleteError":"NOTFOUND"')
    },
  },
  'too many failed log-ins are told as wrong ones': {
    fails: ['query string: after the allowed failures'],
    answer: (answered, { path }) => {
      if (answered.status !== 429 || !named(path, 'auth')) return
      answered.status = 200
      answered.text = 'Login=FAIL'
    },
  },
  'a repeated send is done again': {
    fails: ['REST: a send with the same', 'query string: a send with the same', 'XML: a send with the same'],
    request: (received) => {
      received.headers = received.headers.filter(([name]) => name.toLowerCase() !== 'idempotency-key')
      received.path = received.path.replace(/&clientref=[^&]*/, '')
      received.body = received.body.replace(/<ClientRef>[^<]*<\/ClientRef>/, '')
    },
  },
  'a revoked key has a message of its own': {
    fails: ['a key that is revoked'],
    answer: (answered, { headers }) => {
      const key = headers.find(([name]) => name.toLowerCase() === 'authorization')?.[1]
      if (answered.status === 401 && key !== undefined && key.length > 20)
        answered.text = answered.text.replace(/"errorMessage":"[^"]*"/, '"errorMessage":"The API key was revoked."')
    },
  },
}
