import type { Page } from '../../page.ts'
import { accounts } from './accounts.tsx'

export const accountsPages: readonly Page[] = [accounts]
