import { withoutPasswords } from './stored-carriers.ts'

test('a document is shown without its secrets, and with the names of variables and files', () => {
  const secrets = {
    sid: 'hidden',
    token: ['hidden', { environment: 'OLD_TOKEN' }],
    environment: { environment: 'NAME' },
    file: { file: 'path' },
  }
  const carriers = [
    { name: 'a', url: 'smpp://me:hidden@host' },
    { name: 'b', host: 'h', systemId: 'me', password: 'hidden' },
    { name: 'c', type: 'http', provider: 'twilio', secrets },
  ]
  expect(withoutPasswords({ carriers })).toEqual({
    carriers: [
      { name: 'a', url: 'smpp://me:***@host' },
      { name: 'b', host: 'h', systemId: 'me', password: '***' },
      {
        ...{ name: 'c', type: 'http', provider: 'twilio' },
        secrets: { ...secrets, sid: '***', token: ['***', { environment: 'OLD_TOKEN' }] },
      },
    ],
  })
})
