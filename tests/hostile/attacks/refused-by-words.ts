import { get, post, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

/**
 * Sends requests that are refused for various reasons. A customer can cause each refusal, so no refusal may be logged
 * as an internal error.
 */
export const refusedByWords: Attack = {
  title: 'requests that any customer can have refused',
  by: 'rest',
  run: (target) => {
    const key = `Authorization: ${target.key}\r\n`
    const json = `${key}Content-Type: application/json\r\n`
    const send = JSON.stringify({ message: 'x', recipients: [{ mobileNumber: '27840000001' }] })
    const requests = [
      post('/api/rest/v1/sms/outgoing/send', `${json}Idempotency-Key: ${'1'.repeat(256)}\r\n`, send),
      post('/api/rest/v1/sms/outgoing/send', json, '{"message":'),
      post('/api/rest/v1/credits/transfer', json, '{"__proto__":{"x":1}}'),
      get('/api/rest/v1/sms/scheduled?offset=-1', key),
      get('/api/rest/v1/%', key),
      get('/api/rest/v1/sms/incoming?limit=1e99', key),
    ]
    flood(target, { connections: scaled(target, 60), text: () => requests.join(''), answersToText: requests.length })
  },
}
