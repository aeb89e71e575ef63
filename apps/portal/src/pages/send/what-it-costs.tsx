import type { Quote } from '@gateway/core/messages'
import { Figures, Panel } from '../../components.tsx'
import { amount, count, counted } from '../../format.ts'

/** Panel with the cost of a send before it is sent. */
export function WhatItCosts({
  messages,
  parts: [least, most],
  of: { cost, fullCost, balance, remaining },
}: {
  readonly messages: number
  /** Smallest and largest number of parts of a message. */
  readonly parts: readonly [number, number]
  readonly of: Pick<Quote<string>, 'cost' | 'fullCost' | 'balance' | 'remaining'>
}) {
  return (
    <Panel title="Cost">
      <Figures
        of={[
          ['Messages', count(messages)],
          ['Parts each', least === most ? count(least) : `${count(least)} to ${count(most)}`],
          ['Price', amount(cost)],
          ['Left afterwards', amount(remaining)],
        ]}
      />
      {fullCost > balance && (
        <p class="problem">
          All of them would cost {amount(fullCost)} credits, and you have {amount(balance)}:{' '}
          {counted(messages, 'message')} can be sent.
        </p>
      )}
    </Panel>
  )
}
