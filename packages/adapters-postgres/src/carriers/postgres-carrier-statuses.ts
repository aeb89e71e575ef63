import {
  carrierId,
  instant,
  type CarrierReport,
  type CarrierStatus,
  type CarrierStatuses,
  type ToldCarrier,
} from '@gateway/core'
import type { Context } from '../context.ts'
import { arrayOfTexts } from '../sql/arrays.ts'
import { listCarriers, tellCarriers, type CarrierStatusRow } from '../sql/carrier-statuses.ts'

type Report = Omit<CarrierReport, 'carrier'>

export const postgresCarrierStatuses = ({ pools: { ordinary } }: Context): CarrierStatuses => ({
  async tell({ id, host, pid }, reports) {
    const carriers = arrayOfTexts(reports.map(({ carrier }) => carrier))
    const texts = arrayOfTexts(
      reports.map(({ window, unanswered, status }) => JSON.stringify({ window, unanswered, status } satisfies Report)),
    )
    await ordinary.run(tellCarriers, [id, host, pid, carriers, texts])
  },
  list: async (staleSeconds) => (await ordinary.run(listCarriers, [staleSeconds])).flatMap(toldCarrier),
})

function toldCarrier(row: CarrierStatusRow): readonly ToldCarrier[] {
  const carrier = carrierId(row.carrier)
  if (carrier === undefined) return []
  const { window, unanswered, status } = JSON.parse(row.report) as Report
  const process = { id: row.process, host: row.host, pid: row.pid }
  const [toldAt, isStale] = [instant(row.told_at), row.stale]
  return [{ carrier, window, unanswered, status: status && whole(status), process, toldAt, isStale }]
}

/** JSON leaves out what is undefined. */
const whole = ({ links, receipts, ...status }: CarrierStatus): CarrierStatus => ({
  ...status,
  perSecond: status.perSecond,
  lastError: status.lastError,
  links: links.map((link) => ({ ...link, boundSince: link.boundSince })),
  receipts: { ...receipts, form: receipts.form },
})
