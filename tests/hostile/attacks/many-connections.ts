import { scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

export const idleConnections: Attack = {
  title: '2500 connections that send nothing',
  by: 'rest',
  run: (target) => flood(target, { connections: scaled(target, 2500), networks: 2, text: () => [], answersToText: 0 }),
}

const nonsense = ['\x16\x03\x01\x02\x00\x01\x00', 'GET\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', '\0'.repeat(100)]

/** Each connection is refused and closed, and opened again. */
export const shortConnections: Attack = {
  title: 'connections that send no HTTP, again and again',
  by: 'rest',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 200),
      text: (connection) => nonsense[connection % nonsense.length] ?? '',
      answersToText: 0,
    }),
}
