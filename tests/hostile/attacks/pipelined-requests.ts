import { get, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

const wrong = get('/api/rest/v1/credits/balance', 'Authorization: gw_wrong\r\n')

export const pipelinedWrongKeys: Attack = {
  title: 'pipelined wrong keys, written without end',
  by: 'rest',
  run: (target) => flood(target, { connections: 20, text: () => wrong.repeat(500), answersToText: 'endless' }),
}

export const pipelinedWrongKeysOfSixty: Attack = {
  ...pipelinedWrongKeys,
  title: 'pipelined wrong keys, written without end by 60',
  run: (target) => flood(target, { connections: 60, text: () => wrong.repeat(500), answersToText: 'endless' }),
}

const long = get('/api/rest/v1/credits/balance', `Authorization: gw_wrong\r\nX: ${'x'.repeat(60_000)}\r\n`)

export const pipelinedLongHeaders: Attack = {
  title: 'pipelined wrong keys with long headers',
  by: 'rest',
  run: (target) => flood(target, { connections: scaled(target, 400), text: () => long.repeat(50), answersToText: 50 }),
}
