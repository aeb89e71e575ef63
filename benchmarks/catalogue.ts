import type { Benchmark } from './benchmark.ts'
import { bulkAccept } from './goals/bulk-accept.ts'
import { httpLife } from './goals/http-life.ts'
import { hotAccount } from './goals/hot-account.ts'
import { idle } from './goals/idle.ts'
import { idempotencyKeys } from './goals/idempotency-keys.ts'
import { interfaces } from './goals/interfaces.ts'
import { life } from './goals/life.ts'
import { memory } from './goals/memory.ts'
import { mixed } from './goals/mixed.ts'
import { portal } from './goals/portal.ts'
import { scale } from './goals/scale.ts'
import { singleAccept } from './goals/single-accept.ts'
import { singleLife } from './goals/single-life.ts'
import { slowCarrier } from './goals/slow-carrier.ts'
import { smppAccept } from './goals/smpp-accept.ts'
import { smppBinds } from './goals/smpp-binds.ts'
import { smppCodec } from './goals/smpp-codec.ts'
import { smppLife } from './goals/smpp-life.ts'
import { smppRoutes } from './goals/smpp-routes.ts'
import { smppWindow } from './goals/smpp-window.ts'
import { stages } from './goals/stages.ts'
import { status } from './goals/status.ts'
import { webhooks } from './goals/webhooks.ts'

/** All benchmarks, in the order in which they run. */
export const catalogue: readonly Benchmark[] = [
  bulkAccept,
  interfaces,
  singleAccept,
  idempotencyKeys,
  hotAccount,
  life,
  singleLife,
  status,
  mixed,
  memory,
  slowCarrier,
  idle,
  webhooks,
  smppAccept,
  smppBinds,
  smppCodec,
  smppLife,
  smppWindow,
  smppRoutes,
  httpLife,
  stages,
  portal,
  scale,
]

/**
 * Returns the benchmarks with these names or goal numbers. Without names, returns the benchmarks of a quick or a full
 * run. Throws on an unknown name.
 */
export function chosen(names: readonly string[], quick: boolean): Benchmark[] {
  const unknown = names.filter((name) => !catalogue.some((benchmark) => isMeant(benchmark, name)))
  if (unknown.length > 0) throw new Error(`no benchmark is called ${unknown.join(', ')}; there are:\n${listOfAll()}`)
  return catalogue.filter((benchmark) =>
    names.length === 0
      ? benchmark.runs === 'always' || (!quick && benchmark.runs === 'in full runs')
      : names.some((name) => isMeant(benchmark, name)),
  )
}

const isMeant = ({ name, goals }: Benchmark, nameOrGoal: string): boolean =>
  name === nameOrGoal || goals.map(String).includes(nameOrGoal)

export const listOfAll = (): string =>
  catalogue
    .map(({ name, title, goals, runs }) => {
      const rows = goals.length === 0 ? '' : ` [goal ${goals.join(', ')}]`
      return `  ${name.padEnd(14)}${title}${rows}${runs === 'always' ? '' : ` (${runs})`}`
    })
    .join('\n')
