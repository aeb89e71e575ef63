import { smppSettingsFromUrl } from './from-url.ts'
import { smppDefaults } from './settings.ts'

test('a URL without parameters gets the default settings', () => {
  expect(smppSettingsFromUrl('smpp://us:secret@smsc.example')).toEqual({
    ...smppDefaults,
    ...{ host: 'smsc.example', port: 2775, systemId: 'us', password: 'secret' },
  })
  expect(smppSettingsFromUrl('smpps://us:se%2Ccret%40@[::1]:2776')).toMatchObject({
    ...{ host: '::1', port: 2776, password: 'se,cret@' },
    tls: { serverName: undefined, ca: undefined, cert: undefined, key: undefined },
  })
})

test('every setting can be a parameter of the URL', () => {
  const url =
    'smpp://us:p@h?bind=pair&binds=2&window=10&perSecond=100&alphabet=latin-1&long=sar&numbers=national&country=27' +
    '&source=5.0&destination=1.1&receiptId=hex&utcOffset=-05:30&errors=0x45:for-now;11:throttle&validityHours=24'
  expect(smppSettingsFromUrl(url)).toMatchObject({
    ...{ bind: 'pair', binds: 2, window: 10, perSecond: 100, alphabet: 'latin-1', long: 'sar' },
    ...{ numbers: 'national', country: '27', receiptId: 'hex', utcOffsetMinutes: -330, validityHours: 24 },
    ...{ source: { ton: 5, npi: 0 }, destination: { ton: 1, npi: 1 } },
    errors: new Map([
      [0x45, 'for-now'],
      [11, 'throttle'],
    ]),
  })
})

test.each([
  ['smpp://us:secret@', 'smpp://systemid:password'],
  ['smpp://host', 'expected smpp://systemid:password'],
  ['smpp://us:secret%zz@host', 'expected smpp://systemid:password'],
  [`smpp://us:${'secret'.repeat(11)}@host`, 'the password has more than 64 characters'],
  ['smpp://us:%00secret@host', 'must be Latin-1 without NUL in SMPP'],
  ['smpp://%E2%82%AC:secret@host', 'must be Latin-1 without NUL in SMPP'],
  ['smpp://us:secret@host/path', 'the URL has a path'],
  ['smpp://us:secret@host?windows=1', 'unknown parameter "windows"'],
  ['smpp://us:secret@host?__proto__=1', 'unknown parameter'],
  ['smpp://us:secret@host?window=0', 'window is wrong: a whole number from 1 to 10000'],
  ['smpp://us:secret@host?window=1&window=2', 'window is given twice'],
  ['smpp://us:secret@host?long=maybe', 'long is wrong: one of udh-8'],
  ['smpp://us:secret@host?errors=1:never', 'errors is wrong: code:class'],
  ['smpp://us:secret@host?numbers=national', 'needs country'],
  ['smpp://us:secret@host?ca=/nowhere', 'unknown parameter "ca"'],
  ['smpps://us:secret@host?ca=/nowhere/ca.pem', 'ca is wrong: /nowhere/ca.pem cannot be read'],
])('%s is refused, without its password', (url, why) => {
  expect(() => smppSettingsFromUrl(url)).toThrow(why)
  expect(() => smppSettingsFromUrl(url)).not.toThrow('secret')
})
