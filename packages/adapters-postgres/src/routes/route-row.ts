import type {
  AccountId,
  CarrierId,
  PublishedRoute,
  QueueNumber,
  Route,
  RouteNumber,
  RouteQueue,
  SenderAddress,
} from '@gateway/core'
import type { Selectable } from 'kysely'
import type { Tables } from '../tables.ts'

/** A route and the queues that it ever had, by number. */
export interface RouteRow extends Selectable<Tables['route']> {
  readonly queues: readonly number[]
  /** Of each queue the carrier that refused, '' where nobody did. */
  readonly refusers: readonly string[]
}

export const routeOf = ({ id, queues, refusers, priorities, weights, ...row }: RouteRow): PublishedRoute => ({
  number: id as RouteNumber,
  name: row.name,
  prefixes: row.prefixes,
  accounts: row.accounts as AccountId[],
  senders: row.senders as SenderAddress[],
  carriers: row.carriers.map((carrier, i) => ({
    carrier: carrier as CarrierId,
    priority: priorities[i] ?? NaN,
    weight: weights[i] ?? NaN,
  })),
  queues: (row.carriers.length > 1 ? ['', ...row.carriers] : ['']).map((refuser): RouteQueue => ({
    number: queues[refusers.indexOf(refuser)] as QueueNumber,
    refusedBy: refuser === '' ? undefined : (refuser as CarrierId),
  })),
})

export const rowOf = ({ name, prefixes, accounts, senders, carriers }: Route) => ({
  name,
  prefixes: [...prefixes],
  accounts: [...accounts],
  senders: [...senders],
  carriers: carriers.map(({ carrier }) => carrier as string),
  priorities: carriers.map(({ priority }) => priority),
  weights: carriers.map(({ weight }) => weight),
})
