import { credentialsOf, first, formText, list, readParameters } from './parameters.ts'

describe('parameters', () => {
  test('are found by name in any letter case, encoded or not', () => {
    const read = readParameters('Message=a&NUM%42ERS=b')
    expect([first(read, 'message'), list(read, 'numbers')]).toEqual(['a', ['b']])
  })

  test('are not found by characters whose lower case is an ASCII letter', () => {
    const read = readParameters('api%E2%84%AAey=k&%C4%B0d=1&\u212a=2')
    expect([first(read, 'apikey'), first(read, 'id'), first(read, 'k')]).toEqual([undefined, undefined, undefined])
  })

  test.each([
    ['a=b\r\n', 'b'],
    ['a=b\n', 'b'],
    ['a=b\r\n\r\n', 'b\r\n'],
    ['a=b\n\n', 'b\n'],
    ['a=b\r', 'b\r'],
    ['a=b%0D%0A', 'b\r\n'],
    ['a=b\n&c=d', 'b\n'],
  ])('of the form %j do not include one trailing line break', (form, value) => {
    expect(readParameters(formText(Buffer.from(form))).get('a')).toEqual([value])
  })

  test('of a form that was parsed before do not include its trailing line break either', () => {
    const read = readParameters(formText({ parsed: { a: 'b\r\n', excludesc: 'true\r\n' } }))
    expect([read.get('a'), read.get('excludesc')]).toEqual([['b\r\n'], ['true']])
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

  test('that are repeated count once: the first one, and the query comes before the body', () => {
    expect(first(readParameters('a=1&a=2', 'a=3'), 'a')).toBe('1')
    expect(first(readParameters('', 'a=3'), 'a')).toBe('3')
    expect(first(readParameters('a=', 'a=3'), 'a')).toBe('')
  })

  test.each([
    ['\u00e2\u0082\u00ac', '€'],
    ['\u00c3%A9', 'é'],
    ['caf\u00e9', 'café'],
    ['%\u00e9+%4\u0080', '%é %4€'],
  ])('with the unescaped bytes %j are read as %j, in UTF-8 or else in windows-1252', (raw, value) => {
    expect(readParameters(`a=${raw}`).get('a')).toEqual([value])
  })

  test('each choose their own encoding', () => {
    const read = readParameters('a=%E9&b=%C3%A9')
    expect([first(read, 'a'), first(read, 'b')]).toEqual(['é', 'é'])
  })

  test('with U+0000 count as missing', () => {
    expect(first(readParameters('a=x%00'), 'a')).toBeUndefined()
    expect(list(readParameters('a=1;2&a=%00'), 'a')).toEqual([])
  })

  test('named like a property of every object are just missing', () => {
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
    ['apikey=+k%0D%0A&user=%09u+&password=+p+q+', { apiKey: 'k', pair: { user: 'u', password: 'p q' } }],
    ['user=u&password=%C2%A0p', { apiKey: undefined, pair: { user: 'u', password: '\u00a0p' } }],
  ])('of ?%s are %j', (query, credentials) => {
    expect(credentialsOf(readParameters(query))).toEqual(credentials)
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
  ])('of ?%s are missing', (query) => {
    expect(credentialsOf(readParameters(query))).toBeUndefined()
  })
})
