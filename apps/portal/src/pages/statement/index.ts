import type { Page } from '../../page.ts'
import { statement, statementFile, thisStatement } from './statement.tsx'

export const statementPages: readonly Page[] = [thisStatement, statement, statementFile]
