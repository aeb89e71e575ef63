import { rest } from '../../support/clients.ts'
import { get, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

const thousands = (full: boolean) => (full ? 60 : 3)

export const deepPages: Attack = {
  title: 'deep pages of one account',
  by: 'rest',
  prepare: async (hostile, full) => {
    const recipients = Array.from({ length: 1000 }, (_, i) => ({ mobileNumber: `2784${String(i).padStart(5, '0')}01` }))
    for (let i = 0; i < thousands(full); i++)
      await rest(hostile, '/sms/outgoing/send', { message: 'x', recipients, scheduledTime: '203001010000' })
  },
  run: (target) =>
    flood(target, {
      connections: scaled(target, 150),
      text: () =>
        get(
          `/api/rest/v1/sms/scheduled?limit=1000&offset=${thousands(target.full) * 1000 - 1000}`,
          `Authorization: ${target.key}\r\n`,
        ),
      answersToText: 1,
    }),
}
