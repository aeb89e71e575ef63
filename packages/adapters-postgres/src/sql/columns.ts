import type { AccountId } from '@gateway/core/accounts'
import type { Credits } from '@gateway/core/credits'
import type { CarrierId } from '@gateway/core/dispatch'
import type { MessageId, MessageReference, Msisdn, OutcomeCode, SenderAddress } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import type { WrittenArray, WrittenById } from './arrays.ts'
import { column, nullable } from './statement.ts'

/*
 * Columns of core's types that several statements return.
 */

export const accountId = column<AccountId>('int')
export const carrierId = column<CarrierId>('text')
export const messageId = column<MessageId>('bigint')
/** Phone number as a text of digits. Tables store it as `bigint`, so a statement casts it. */
export const msisdn = column<Msisdn>('text')
export const messageReference = column<MessageReference>('text')
export const senderAddress = column<SenderAddress>('text')
/** Credits that a table stores as `bigint`: balances, ledger entries and their sums. */
export const credits = column<Credits>('bigint')
/** Credits of one message. */
export const messagePrice = column<Credits>('int')
export const outcomeCode = column<OutcomeCode>('smallint')
/** Time in milliseconds since 1970, as the SQL of `milliseconds` makes it. */
export const instant = column<Instant>('bigint')

/** Declares a column that has the values of all rows as the text of one array. It is null if there are no values. */
export const arrayOfColumn = <Element>() => nullable(column<WrittenArray<Element>>('text'))
/** Declares a column that has values by message id as the text of a JSON object. It is null if there are no values. */
export const valuesById = <Value>() => nullable(column<WrittenById<Value>>('text'))
