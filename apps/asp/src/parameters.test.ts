import { credentialsOf } from './credentials.ts'
import { first, list, readParameters } from './parameters.ts'

describe('parameters', () => {
  test('are found by their names in any letter case, encoded or not', () => {
    const read = readParameters('Message=a&NUM%42ERS=b')
    expect([first(read, 'message'), list(read, 'numbers')]).toEqual(['a', ['b']])
  })

  test('are split at & and at the first = only', () => {
    const read = readParameters('&&a=b=c&d&=e&f=%26%3D&')
    expect([...read]).toEqual([
      ['a', ['b=c']],
      ['d', ['']],
      ['', ['e']],
      ['f', ['&=']],
    ])
  })

  test('given more than once: the first counts, and the query comes before the body', () => {
    expect(first(readParameters('a=1&a=2', 'a=3'), 'a')).toBe('1')
    expect(first(readParameters('', 'a=3'), 'a')).toBe('3')
    expect(first(readParameters('a=', 'a=3'), 'a')).toBe('')
  })

  test('each choose their own encoding', () => {
    const read = readParameters('a=%E9&b=%C3%A9')
    expect([first(read, 'a'), first(read, 'b')]).toEqual(['é', 'é'])
  })

  test('with U+0000 count as missing', () => {
    expect(first(readParameters('a=x%00'), 'a')).toBeUndefined()
    expect(list(readParameters('a=1;2&a=%00'), 'a')).toEqual([])
  })

  test('named like something every object has are just missing', () => {
    expect(['__proto__', 'constructor', 'tostring'].map((name) => first(readParameters('a=1'), name))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})

test.each([
  ['a=1', ['1']],
  ['a=1;2', ['1', '2']],
  ['a=1;2;', ['1', '2']],
  ['a=;;1;;+;2+;', ['1', '2']],
  ['a=1%3B2&a=3', ['1', '2', '3']],
  ['a=2;&a=1', ['2', '1']],
  ['a=', []],
  ['', []],
])('the list of ?%s is %j', (query, pieces) => {
  expect(list(readParameters(query), 'a')).toEqual(pieces)
})

describe('credentials', () => {
  const pair = { user: 'u', password: 'p' }
  test.each([
    ['apikey=k', { apiKey: 'k', pair: undefined }],
    ['user=u&password=p', { apiKey: undefined, pair }],
    ['ApiKey=k&USER=u&Password=p', { apiKey: 'k', pair }],
    ['apikey=k&user=&password=', { apiKey: 'k', pair: undefined }],
    ['apikey=&user=u&password=p', { apiKey: undefined, pair }],
    ['apikey=+&user=u&password=p', { apiKey: undefined, pair }],
    ['apikey=k&user=u', { apiKey: 'k', pair: undefined }],
    ['apikey=&apikey=k', { apiKey: 'k', pair: undefined }],
    ['user=u&password=+p+', { apiKey: undefined, pair: { user: 'u', password: ' p ' } }],
  ])('of ?%s are %j', (query, given) => {
    expect(credentialsOf(readParameters(query))).toEqual(given)
  })

  test.each([
    '',
    'apikey=',
    'user=u',
    'password=p',
    'user=u&password=+',
    'apikey=k%00',
    'apikey=k&apikey=k',
    'apikey=k&apikey=l',
    'user=u&user=u&password=p',
    'user=u&password=p&password=q',
    'apikey=k&user=u&password=p&password=p',
  ])('of ?%s are none', (query) => {
    expect(credentialsOf(readParameters(query))).toBeUndefined()
  })
})
