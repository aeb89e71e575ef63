alter table directory add column calling_code text; -- country of numbers without a country code; null: none
