import { httpSettingsOf, type HttpFields } from './read-settings.ts'
import { accountOf, callbackUrl, originOfAccount } from './settings.ts'

const twilio: HttpFields = { provider: 'twilio', secrets: { sid: ['AC0123'], token: ['hidden-token'] } }
const infobip: HttpFields = {
  provider: 'infobip',
  secrets: { key: ['hidden-key'] },
  baseUrl: 'https://x.api.infobip.com',
}
const own: HttpFields = {
  provider: { send: { url: 'https://sms.example/send' }, answer: { id: '/id', rules: [{ is: 'accepted' }] } },
  secrets: {},
}
const path = '0123456789abcdef0123456789abcdef'

const problemOf = (fields: HttpFields, allow: readonly string[] = []): Promise<string> =>
  httpSettingsOf(fields, allow).then(
    () => 'none',
    (problem: unknown) => (problem as Error).message,
  )

test('omitted settings have their defaults', async () => {
  expect(await httpSettingsOf({ ...twilio, from: '+15005550006', baseUrl: undefined }, [])).toMatchObject({
    ...{ provider: 'twilio', from: '+15005550006', window: 20, responseSeconds: 30, silentSeconds: 5 },
  })
})

test.each([
  ['an unknown provider', { ...twilio, provider: 'twillio' }, 'provider: one of twilio, vonage'],
  ['a wrong description', { ...own, provider: { send: {} } }, 'provider/send: "url" is missing'],
  ['a missing secret', { ...twilio, secrets: { sid: ['AC0123'] } }, 'secrets: "token" is missing'],
  ['an unknown secret', { ...twilio, secrets: { ...twilio.secrets, key: ['hidden'] } }, 'secrets: the provider has no secret "key"'],
  ['a short path', { ...twilio, secrets: { ...twilio.secrets, path: ['hidden'] } }, 'secrets/path: at least 32 characters'],
  ['a provider without a URL of its own', { ...infobip, baseUrl: undefined }, 'baseUrl: the provider has no URL of its own'],
  ['a public URL that is none', { ...twilio, publicUrl: 'sms.example.com' }, 'PUBLIC_URL: a URL such as'],
  ['a wrong network', { ...twilio, callbackNetworks: ['192.0.2.7', '192.0.2.0/33'] }, 'callbackNetworks: "192.0.2.0/33" is not a network'],
  ['plain http', { ...twilio, baseUrl: 'http://sms.example' }, 'baseUrl: plain http is possible only'],
  ['plain http in a description', { ...own, provider: { ...(own.provider as object), send: { url: 'http://sms.example/' } } }, 'provider/send/url: plain http'],
])('%s is refused with the name of the field, without a secret', async (_, fields, problem) => {
  expect(await problemOf(fields)).toContain(problem)
  expect(await problemOf(fields)).not.toContain('hidden')
}) // prettier-ignore

test('plain http is accepted for loopback, and for the networks that are allowed', async () => {
  expect(await problemOf({ ...twilio, baseUrl: 'http://127.0.0.1:8086' })).toBe('none')
  expect(await problemOf({ ...twilio, baseUrl: 'http://192.168.1.7:8080' }, ['192.168.0.0/16'])).toBe('none')
})

test.each(['192.168.0.0/33', '192.168.0.0/', 'lan', '10.0.0.0/8/8', ''])('%j is not a network', async (network) => {
  expect(await problemOf(twilio, ['10.0.0.0/8', network])).toBe(
    `CARRIER_HTTP_ALLOW: ${JSON.stringify(network)} is not a network such as 192.168.0.0/16`,
  )
})

test.each([
  ['a signature', twilio, 'https://gw.example/carriers/main/callback'],
  ['a signature and a path', { ...twilio, secrets: { ...twilio.secrets, path: [path, 'f'.repeat(32)] } }, `https://gw.example/carriers/main/${path}`],
  ['a password', { ...infobip, secrets: { ...infobip.secrets, callbackUser: ['cb'], callbackPassword: ['p@ss'] } }, 'https://cb:p%40ss@gw.example/carriers/main/callback'],
])('the URL of callbacks that prove themselves by %s', async (_, fields, url) => {
  expect(callbackUrl(accountOf(await httpSettingsOf(fields, [])), 'main', 'https://gw.example/')).toBe(url)
}) // prettier-ignore

test('the origin is that of the base URL, else that of the description', async () => {
  expect(originOfAccount(accountOf(await httpSettingsOf(twilio, [])))).toBe('https://api.twilio.com')
  expect(originOfAccount(accountOf(await httpSettingsOf(infobip, [])))).toBe('https://x.api.infobip.com')
})
