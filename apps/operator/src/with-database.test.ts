import { explain } from './with-database.ts'

const url = 'postgres://me:hunter2@db/x'
const withCode = (message: string, code: string) => Object.assign(new Error(message), { code })

test.each([
  ['refused', withCode('connect ECONNREFUSED 127.0.0.1:9', 'ECONNREFUSED')],
  ['no such host', withCode('getaddrinfo EAI_AGAIN db', 'EAI_AGAIN')],
  ['a wrong password', withCode('password authentication failed for user "me"', '28P01')],
  ['no such database', withCode('database "x" does not exist', '3D000')],
  ['starting', withCode('the database system is starting up', '57P03')],
  ['a certificate', withCode('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT')],
  ['silence', new Error('Connection terminated due to connection timeout')],
  ['no password', new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string')],
  ['no TLS', new Error('The server does not support SSL connections')],
])('an unreachable database (%s) is reported in one sentence that names DATABASE_URL', (_, problem) => {
  const message = explain(problem, url)
  expect(message).toMatch(/^The database cannot be reached: .+\. Check DATABASE_URL/)
  expect(message).not.toContain('\n')
})

test.each([
  ['53100', 'could not write init file: No space left on device', /^The disk of the database is full\. Enlarge/],
  ['53300', 'sorry, too many clients already', /^The database accepts no further connections\. End idle sessions/],
])('an exhausted resource of the server (%s) is reported with advice', (code, message, words) => {
  const explanation = explain(withCode(message, code), url)
  expect(explanation).toMatch(words)
  expect(explanation).toContain(`PostgreSQL says: ${message}.`)
})

test('for a name with several addresses the result at each is reported', () => {
  const problem = new AggregateError(
    [new Error('connect ECONNREFUSED ::1:9'), new Error('connect ECONNREFUSED 127.0.0.1:9')],
    '',
  )
  expect(explain(Object.assign(problem, { code: 'ECONNREFUSED' }), url)).toMatch(
    /^The database cannot be reached: connect ECONNREFUSED ::1:9; connect ECONNREFUSED 127.0.0.1:9\. /,
  )
})

test('for the embedded database its log is named instead', () => {
  expect(explain(withCode('connect ENOENT', 'ENOENT'), undefined)).toContain('DATA_DIR/postgres')
})

test('a password is never shown', () => {
  expect(explain(withCode(`no ${url}`, 'ERR_X'), url)).not.toContain('hunter2')
  expect(explain(new Error(`no ${url}`), url)).toBe('no postgres://me:***@db/x')
})

test('a refusal of the database is reported in its words', () => {
  expect(explain(withCode('permission denied for schema public', '42501'), url)).toBe(
    'The database refuses: permission denied for schema public.',
  )
})

test('after a lost answer the message says that the outcome is unknown', () => {
  expect(explain(new Error('the answer of the database was lost'), url)).toContain(
    'the change may or may not have been made',
  )
})

test('other problems have advice of their own', () => {
  expect(explain(new Error('DATA_DIR /x cannot be used.'), undefined)).toBe('DATA_DIR /x cannot be used.')
})
