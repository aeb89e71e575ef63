import { get, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

/** Path of the largest public document, 1.7 MB. */
const largest = '/docs/swagger-ui-bundle.js'

export const readPublicDocuments: Attack = {
  title: 'public documents, read without a key and without a pause',
  by: 'rest',
  run: (target) => flood(target, { connections: scaled(target, 64), text: () => get(largest), answersToText: 1 }),
}

export const unreadPublicDocuments: Attack = {
  title: 'public documents that nobody reads',
  by: 'rest',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 500),
      text: () => get(largest).repeat(50),
      answersToText: 0,
      reads: false,
    }),
}
