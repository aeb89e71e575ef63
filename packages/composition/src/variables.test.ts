import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processingDefaults } from '@gateway/core'
import { confirmationOf } from '@gateway/core/inbox'
import { oidcSettings, oidcVariables, processVariables, readEnvironment } from '@gateway/server'
import {
  processingSettings,
  processingVariables,
  publishedVariables,
  webhookPorts,
  webhookVariables,
} from './variables.ts'

describe('variables', () => {
  const read = (env: Readonly<Record<string, string>>) => processingSettings(readEnvironment(processingVariables, env))

  test('the text of confirmations and the times for which data is stored can be set; a blank value means the default', () => {
    expect(read({ OPTOUT_CONFIRMATION: ' ' })).toEqual(processingDefaults)
    const changed = { OPTOUT_CONFIRMATION: 'As you wish, friend.', CONTACT_DAYS: '3650', SMPP_DELIVERY_HOURS: '24' }
    expect(read(changed)).toEqual({
      confirmation: confirmationOf('As you wish, friend.'),
      contactDays: 3650,
      smppDeliveryHours: 24,
    })
  })

  test.each([
    ['OPTOUT_CONFIRMATION', 'x'.repeat(919), 'a text that can be sent'],
    ['OPTOUT_CONFIRMATION', 'a\0b', 'a text that can be sent'],
    ['CONTACT_DAYS', '0', 'from 1 to 3650'],
    ['CONTACT_DAYS', '3651', 'from 1 to 3650'],
    ['SMPP_DELIVERY_HOURS', '0', 'from 1 to 720'],
  ])('an unusable %s stops the start, and the message says what is expected', (name, value, expected) => {
    expect(() => read({ [name]: value })).toThrow(new RegExp(`${name} is .*; expected .*${expected}`, 's'))
  })
})

describe('an OpenID provider', () => {
  const read = (env: Readonly<Record<string, string>>) => oidcSettings(readEnvironment(oidcVariables, env))
  const whole = { OIDC_ISSUER: 'https://login.example.com/staff', OIDC_CLIENT_ID: 'sms' }

  test('is configured if its issuer and client id are set', () => {
    expect(read({})).toBeUndefined()
    const settings = { issuer: whole.OIDC_ISSUER, clientId: 'sms', clientSecret: undefined, claim: 'email' }
    expect(read(whole)).toEqual(settings)
    expect(read({ ...whole, OIDC_ISSUER: 'http://127.0.0.1:9' })).toMatchObject({ issuer: 'http://127.0.0.1:9' })
  })

  test.each([
    [{ OIDC_ISSUER: 'http://login.example.com' }, /OIDC_ISSUER is "http:.*expected .*https/],
    [{ OIDC_ISSUER: 'https://login.example.com?x=1' }, /OIDC_ISSUER is/],
    [{ OIDC_CLIENT_ID: '' }, /OIDC_CLIENT_ID is not set/],
    [{ OIDC_ISSUER: '' }, /OIDC_ISSUER is not set/],
  ])('%j stops the start', (environment, expected) => {
    expect(() => read({ ...whole, ...environment })).toThrow(expected)
  })
})

describe('published variables', () => {
  test('published variables are those on the configuration page', () => {
    const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8')
    const ofTables = Array.from(page.matchAll(/^\| `([A-Z_]+)`/gm), ([, name]) => name)
    const ofLibpq = Array.from(page.matchAll(/`(PGSSL[A-Z]+)`/g), ([, name]) => name)
    expect([...publishedVariables].sort()).toEqual([...new Set([...ofTables, ...ofLibpq])].sort())
  })
})

describe('webhook ports', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-webhook-ports-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const read = (env: Readonly<Record<string, string>>) =>
    readEnvironment({ ...processVariables, ...webhookVariables }, { DATA_DIR: folder, ...env })
  const portsOf = (env: Readonly<Record<string, string>>) => webhookPorts(read(env))

  const key = 'ab'.repeat(32)
  const newKey = 'cd'.repeat(32)

  test('by default webhooks require https and cannot reach networks of the operator', () => {
    const { webhookClient } = portsOf({})
    expect(webhookClient.refusalOf('http://example.com/')).toBe('not-https')
    expect(webhookClient.refusalOf('https://10.0.0.1/')).toBe('internal-address')
    expect(webhookClient.refusalOf('https://example.com/')).toBeUndefined()
  })

  test('networks and plain http are allowed by the environment', () => {
    const { webhookClient } = portsOf({ WEBHOOK_ALLOW: '127.0.0.0/8, 10.1.2.3,fd00::/8', WEBHOOK_HTTP: 'true' })
    for (const host of ['127.0.0.1', 'localhost', '10.1.2.3', '[fd00::1]', '[::ffff:10.1.2.3]', 'example.com'])
      expect(webhookClient.refusalOf(`http://${host}:8000/`)).toBeUndefined()
    expect(webhookClient.refusalOf('http://10.1.2.4/')).toBe('internal-address')
  })

  test('a secret that one process encrypted is decrypted by another with the same keys, also during a rotation', () => {
    const sealed = portsOf({ SECRETS_KEY: key }).secretBox.seal('whsec_abc')
    const rotated = portsOf({ SECRETS_KEY: `${newKey},${key}` }).secretBox
    expect([rotated.open(sealed), rotated.isOld(sealed)]).toEqual(['whsec_abc', true])
    expect(() => portsOf({}).secretBox.open(sealed)).toThrow(/SECRETS_KEY/)
  })

  test.each([
    ['SECRETS_KEY', 'my-secret-word', /SECRETS_KEY is set to something else .*; expected keys of 32 bytes/],
    ['SECRETS_KEY', `${key},my-secret-word`, /SECRETS_KEY is set/],
    ['WEBHOOK_ALLOW', '10.0.0.0/33', /WEBHOOK_ALLOW is .*; expected .*10\.0\.0\.0\/8/],
    ['WEBHOOK_ALLOW', 'example.com', /WEBHOOK_ALLOW is/],
    ['WEBHOOK_HTTP', 'maybe', /WEBHOOK_HTTP is .*; expected true or false/],
    ['WEBHOOK_PROXY', 'proxy:3128', /WEBHOOK_PROXY is .*; expected the URL of a proxy/],
    ['WEBHOOK_PROXY', 'socks5://me:my-secret-word@proxy', /WEBHOOK_PROXY is/],
    ['WEBHOOK_PROXY', 'http://me:my-secret-word@proxy/path', /WEBHOOK_PROXY is/],
  ])('%s=%s stops the start, and the message says what is expected and no secret', (name, value, message) => {
    expect(() => read({ [name]: value })).toThrow(message)
    expect(() => read({ [name]: value })).not.toThrow(/my-secret-word/)
  })
})
