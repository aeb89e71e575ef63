import type { Secrets } from '@gateway/core'

type Checked = Awaited<ReturnType<Secrets['checkPassword']>>

/** Outcome of a log-in. Unknown names count as wrong passwords, because strangers may see the counts. */
export type LoginOutcome = 'right' | 'wrong' | 'too-many-failures' | 'overloaded'

export interface LoginCounts {
  readonly count: (checked: Checked) => void
  readonly counts: Readonly<Record<LoginOutcome, number>>
}

export function loginCounts(): LoginCounts {
  const counts = { right: 0, wrong: 0, 'too-many-failures': 0, overloaded: 0 } satisfies Record<LoginOutcome, number>
  return {
    counts,
    count: (checked) => {
      counts[outcomeOf(checked)]++
    },
  }
}

function outcomeOf(checked: Checked): LoginOutcome {
  if (typeof checked === 'string') return checked
  return 'account' in checked ? 'right' : 'too-many-failures'
}
