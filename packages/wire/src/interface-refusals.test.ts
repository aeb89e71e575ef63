import { instant } from '@gateway/core/time'
import { interfaceOf, notFoundElsewhere, refusalElsewhere } from './index.ts'

const now = instant(Date.UTC(2026, 0, 2, 3, 4, 5))

test.each([
  ['/api/rest/v1/credits/balance', 'rest'],
  ['/api/rest/', 'rest'],
  ['/api/REST/v1', 'query-string'],
  ['/api/auth.asp', 'query-string'],
  ['/API/Nothing', 'query-string'],
  ['/api', 'query-string'],
  ['/Api/XMLgetstatus.ASP', 'xml'],
  ['/api/xml/x.asp', 'query-string'],
  ['/apis', undefined],
  ['/', undefined],
  ['', undefined],
])('the path %j belongs to the interface %j', (path, name) => {
  expect(interfaceOf(path)).toBe(name)
})

test.each([
  [431, '/api/rest/v1/credits/balance', 'application/json; charset=utf-8', '"statusCode":431'],
  [431, '/api/auth.asp', 'text/plain; charset=utf-8', 'Error="too <large>"'],
  [
    431,
    '/api/XMLgetreplies.asp',
    'text/xml; charset=utf-8',
    '<XMLGateway_Replies><Error>too &lt;large></Error></XMLGateway_Replies>',
  ],
  [503, '/api/xmlnothing.asp', 'text/xml; charset=utf-8', '<XMLGateway_Response><Error>'],
  [431, '/elsewhere', 'text/plain; charset=utf-8', 'too <large>'],
])('a refusal with %i at %s in another process has the form of its interface', (status, path, contentType, body) => {
  const refusal = refusalElsewhere({ status, reason: 'too <large>', path }, now)
  expect(refusal).toMatchObject({ status, contentType, body: expect.stringContaining(body) as string })
  expect('Retry-After' in refusal.headers).toBe(status === 503)
})

test.each(['/api/auth.asp', '/api/xmlgetstatus.asp', '/api/nothing'])(
  'another process answers %s with 404 in plain text, also to an unknown method',
  (path) => {
    const answer = { status: 404, contentType: 'text/plain; charset=utf-8', headers: {}, body: 'Not found' }
    expect(notFoundElsewhere(path, now)).toEqual(answer)
    expect(refusalElsewhere({ status: 405, reason: 'This method does not exist.', path }, now)).toEqual(answer)
  },
)
