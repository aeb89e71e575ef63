import { post, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

const nested = '['.repeat(102_000) + ']'.repeat(102_000)

export const deepJson: Attack = {
  title: 'deep JSON of one account',
  by: 'rest',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 60),
      text: () =>
        post(
          '/api/rest/v1/credits/transfer',
          `Authorization: ${target.key}\r\nContent-Type: application/json\r\n`,
          nested,
        ),
      answersToText: 1,
    }),
}
