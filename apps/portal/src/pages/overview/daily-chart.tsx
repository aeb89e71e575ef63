import { OUTCOME, stateOf, type DailySum } from '@gateway/core/messages'
import { startOfGatewayDay, type GatewayDay } from '@gateway/core/time'
import { Table } from '../../components.tsx'
import { count, shortDay } from '../../format.ts'

export const shownDays = 30

/** Outcomes of the messages that were handed over on one day. */
export interface DayFigures {
  readonly day: GatewayDay
  readonly delivered: number
  /** Messages that a carrier has accepted and whose final state is not known yet. */
  readonly underWay: number
  readonly failed: number
  readonly unknown: number
}

/** Returns the figures of each day up to today, including days without messages. */
export function figuresOf(sums: readonly DailySum[], today: GatewayDay): readonly DayFigures[] {
  const first = today - shownDays + 1
  return Array.from({ length: shownDays }, (_, i) => {
    const day = (first + i) as GatewayDay
    const sumsOfDay = sums.filter((sum) => sum.day === day)
    const sum = (fits: (code: DailySum['code']) => boolean) =>
      sumsOfDay.filter(({ code }) => fits(code)).reduce((all, { messages }) => all + messages, 0)
    return {
      day,
      delivered: sum((code) => code === OUTCOME.delivered),
      underWay: sum((code) => code === OUTCOME.sent || code === OUTCOME.underWay),
      failed: sum((code) => stateOf(code) === 'failed'),
      unknown: sum((code) => code === OUTCOME.unknown),
    }
  })
}

/** Table of the days, which a script draws as a chart and collapses behind "Show as table". */
export const DailyChart = ({ days }: { readonly days: readonly DayFigures[] }) => (
  <div class="chart" data-island="chart">
    <details open>
      <summary>Show as table</summary>
      <div id="days" data-live="">
        <Table<DayFigures>
          caption="Messages by the day on which they were handed over"
          rows={days.toReversed()}
          empty=""
          columns={[
            { head: 'Day', cell: ({ day }) => shortDay(startOfGatewayDay(day)) },
            { head: 'Delivered', number: true, cell: ({ delivered }) => count(delivered) },
            { head: 'On their way', number: true, cell: ({ underWay }) => count(underWay) },
            { head: 'Failed', number: true, cell: ({ failed }) => count(failed) },
            { head: 'Unknown', number: true, cell: ({ unknown }) => count(unknown) },
          ]}
        />
      </div>
    </details>
  </div>
)
