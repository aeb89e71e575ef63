import type { InboxPart } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

/** A statement for each part of an inbox, with its condition (core's `isIn`), which is that of an index. */
export const byPart = <Row>(
  make: (part: InboxPart, condition: string) => PreparedStatement<Row>,
  isToCode: string,
): Readonly<Record<InboxPart, PreparedStatement<Row>>> => ({
  all: make('all', ''),
  'short-code': make('short-code', `and ${isToCode}`),
  replies: make('replies', `and not (${isToCode})`),
})
