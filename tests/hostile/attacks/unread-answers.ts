import { rest } from '../../support/clients.ts'
import { get, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

/** Requests many answers of some 120 kB each and never reads them. */
export const unreadAnswers: Attack = {
  title: 'long answers of one account that nobody reads',
  by: 'rest',
  prepare: async (hostile) => {
    const recipients = Array.from({ length: 1000 }, (_, i) => ({ mobileNumber: `2783${String(i).padStart(5, '0')}01` }))
    await rest(hostile, '/sms/outgoing/send', { message: 'x', recipients, scheduledTime: '203001010000' })
  },
  run: (target) =>
    flood(target, {
      connections: scaled(target, 500),
      text: () => get('/api/rest/v1/sms/scheduled?limit=1000', `Authorization: ${target.key}\r\n`).repeat(50),
      answersToText: 0,
      reads: false,
    }),
}
