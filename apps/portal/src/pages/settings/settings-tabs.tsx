import { Link } from '../../components.tsx'

const tabs = [
  ['/settings/keys', 'API keys'],
  ['/settings/webhooks', 'Webhooks'],
  ['/settings/smpp', 'SMPP'],
  ['/settings/users', 'Users'],
  ['/settings/country', 'Country'],
  ['/settings/security', 'Security'],
] as const

/** Links to the pages of the settings. `at` is the path of the current page. */
export const SettingsTabs = ({ at }: { readonly at: (typeof tabs)[number][0] }) => (
  <ul class="tabs">
    {tabs.map(([path, title]) => (
      <li key={path}>
        <Link to={path} current={path === at}>
          {title}
        </Link>
      </li>
    ))}
  </ul>
)
