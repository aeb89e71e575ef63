import { confirmationOf, processingDefaults } from '@gateway/core'
import { readEnvironment } from '@gateway/server'
import { processingSettings, processingVariables } from './variables.ts'

const read = (env: Readonly<Record<string, string>>) => processingSettings(readEnvironment(processingVariables, env))

test('what confirms an opt-out and how long senders are remembered can be set; a blank value is the default', () => {
  expect(read({ OPTOUT_CONFIRMATION: ' ' })).toEqual(processingDefaults)
  expect(read({ OPTOUT_CONFIRMATION: 'As you wish, friend.', CONTACT_DAYS: '3650' })).toEqual({
    confirmation: confirmationOf('As you wish, friend.'),
    contactDays: 3650,
  })
})

test.each([
  ['OPTOUT_CONFIRMATION', 'x'.repeat(919), 'a text that can be sent'],
  ['OPTOUT_CONFIRMATION', 'a\0b', 'a text that can be sent'],
  ['CONTACT_DAYS', '0', 'from 1 to 3650'],
  ['CONTACT_DAYS', '3651', 'from 1 to 3650'],
])('%s that cannot be used stops the start, and the message says what is expected', (name, value, expected) => {
  expect(() => read({ [name]: value })).toThrow(new RegExp(`${name} is .*; expected .*${expected}`, 's'))
})
