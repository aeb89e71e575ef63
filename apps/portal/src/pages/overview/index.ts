import type { Page } from '../../page.ts'
import { overview } from './overview.tsx'

export const overviewPages: readonly Page[] = [overview]
