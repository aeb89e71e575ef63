import { readFileSync } from 'node:fs'
import { enteredSecrets, needsPath, providerSetup } from './provider-setup.ts'
import { providerNames, shippedProvider } from './providers.ts'

test.each(providerNames)('%s can be connected by a form with its secrets, those for sending first', (name) => {
  const { sendSecrets, description } = shippedProvider(name)
  const secrets = enteredSecrets(name)
  expect(secrets.slice(0, sendSecrets.size).map((secret) => secret.name)).toEqual(
    secrets.filter(({ isRequired }) => isRequired).map((secret) => secret.name),
  )
  expect(secrets.filter(({ isRequired }) => isRequired)).toHaveLength(sendSecrets.size)
  const { account, callbacks, baseUrl } = providerSetup(name)
  expect([account.length > 0, callbacks.length > 0]).toEqual([true, description.callbacks !== undefined])
  if (description.send.url.startsWith('/')) expect(baseUrl).toBeDefined()
})

test.each(providerNames)('the documentation has the steps of %s', (name) => {
  const docs = readFileSync(new URL('../../../docs/http-carriers.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
  const { account, callbacks } = providerSetup(name)
  for (const step of [...account, ...callbacks]) expect(docs).toContain(step)
})

test('the text of a secret is its label and its place', () => {
  expect(enteredSecrets('twilio')).toEqual([
    { name: 'sid', label: 'Account SID', hint: 'On the first page of the Twilio console', isRequired: true },
    {
      ...{ name: 'token', label: 'Auth token', isRequired: true },
      hint: 'On the first page of the Twilio console; Twilio signs callbacks with it',
    },
  ])
  expect(enteredSecrets('46elks').map(({ name }) => name)).toEqual(['user', 'password'])
})

test('a secret path verifies callbacks that the secrets for sending do not sign', () => {
  expect(providerNames.filter((name) => !needsPath(name))).toEqual(['twilio', 'plivo'])
})
