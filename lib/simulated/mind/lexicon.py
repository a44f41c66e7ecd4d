"""What support tickets are commonly about: concepts with near-synonym names and the words that point to each.

A cue is `weight terms…`: every term must occur in one sentence. A term is a choice `a|b`; `_` joins the words of a
phrase, `*` leaves the end of a word open, `#` is something that figures show. Words are in plain form: lower case, no
accents. A cue may go on in the next line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property


@dataclass(frozen=True)
class Concept:
    name: str                   # the plainest of its names
    other_names: tuple[str, ...]
    cues_text: str
    area: str = ""              # words for what it belongs to, such as "billing payment"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.other_names)

    @cached_property
    def cues(self) -> tuple[tuple[float, tuple[tuple[str, ...], ...]], ...]:
        """(weight, terms), each term a tuple of alternatives."""
        lines = re.split(r"\n\s*(?=\d)", re.sub(r"\|\s+", "|", self.cues_text.strip()))
        cues = (line.split() for line in lines)
        return tuple((float(weight), tuple(tuple(term.split("|")) for term in terms)) for weight, *terms in cues)


def _concept(name: str, others: str, cues: str) -> Concept:
    return Concept(name, tuple(o.strip() for o in others.split(",") if o.strip()), cues)


def _area(area: str, *concepts: Concept) -> tuple[Concept, ...]:
    return tuple(replace(concept, area=area) for concept in concepts)


_FAIL = ("fail*|can't|cannot|won't|doesn't|don't|unable|stuck|loop*|error*|reject*|refus*|den*|block*|broke*|stop*|"
         "invalid|nobody|impossible|no_longer|lock*|kick*|bounce*|nicht|kann|no_puedo|no_podemos|impossible|nao")
_MONEY = "charg*|bill*|debit*|pay*|paid|withdr*|deduct*|took|taken|collect*|invoic*|transaction*|fee|amount"
_MAIL = ("email*|e_mail*|mail*|reminder*|notification*|confirmation*|message*|newsletter*|correo*|"
         "recordatorio*|courriel*")
_OUTPUT = ("export*|extract|sheet|report|reports|csv|file|workbook*|spreadsheet*|xlsx|excel|download*|informe*|"
           "exportacion|"
           "relatorio*|rapport*")
_PARCEL = ("parcel*|package*|order*|delivery|deliveries|shipment*|groceries|courier|driver|van|paket*|lieferung|"
           "bestellung|sendung*|pedido*|paquete*|colis|commande*|livraison|livreur|transporteur|encomenda*|entrega")
_NOT_COME = ("not_arrived|never_arriv*|never_came|never_come|never_received|not_received|didn't_arrive|hasn't_arrived|"
             "turned_up|turn_up|no_one_came|nobody_came|didn't_show|doesn't_show|never_delivered|not_been_delivered|"
             "nicht_angekommen|nicht_erhalten|nichts_erhalten|nicht_geliefert|nicht_zugestellt|nie_angekommen|"
             "keine_sendung|noch_nicht|nicht_da|pas_recu|jamais_recu*|jamais_livre*|pas_arrive*|pas_livre*|"
             "aucun_colis|no_ha_llegado|no_llego|nunca_llego|no_he_recibido|nao_chegou|nunca_chegou|"
             "nao_recebi")
_GOODS = ("egg*|milk|yogh*|bottle*|jar|jars|glass|box|bag|bags|carton|crate|fruit*|vegetable*|strawberr*|banana*|"
          "chicken|meat|fish|bread|cheese|frozen_food*|flour|oil|milch|flasche*|karton|obst|gemuse|fleisch|tiefkuhl*|"
          "ware|waren|bocal|bouteille*|verre|fromage|fruits|emballage|botella*|fruta*|caja|garrafa*|caixa")
_SPOILED = ("broken|smash*|crush*|shatter*|leaked|mouldy|moldy|rotten|spoil*|smelled|smelt|past_its_date|out_of_date|"
            "squash*|ripped|soaked|thaw*|aufgetaut|ausgelaufen|durchnasst|beschadigt|kaputt|zerbroch*|"
            "zerdruckt|verschimmelt|verdorben|abgelaufen|casse*|abime*|moisi*|perime*|dechire*|roto|rota|rotas|rotos|"
            "podrid*|estragad*|quebrad*")
_CHILLED = ("perishable*|chicken|lamb|duck|ham|steak*|burger*|cod|meat|meats|mince|beef|pork|turkey|bacon|sausage*|"
            "fish|salmon|prawn*|shrimp*|seafood|milk|dairy|butter|"
            "cream|creme|yogh*|yogurt*|cheese*|tofu|food|groceries|poulet|poisson|viande|lait|beurre|fromage|"
            "fleisch|fisch|hahnchen|milch|joghurt|pollo|carne|pescado|leche|mantequilla|frango|peixe")
_WARMED = ("warm|lukewarm|tepid|room_temperature|room_temp|sweating|sweaty|slimy|greasy|melted|liquid|runny|soup|"
           "not_cold|isn't_cold|wasn't_cold|not_chilled|unrefrigerated|curdled|gone_off|tiede*|fondu*|lauwarm*|warme|"
           "tibi*|templad*|derretid*|morno*")
_COOLING = ("ice|ice_pack*|icepack*|ice_block*|gel_pack*|gel_bag*|gel|cool_pack*|cool_bag*|cool_pouch|cool_block*|"
            "cold_pack*|cooler|coolant|freezer_block*|slabs|insulat*|sachet_de_glace|kuhlakku*|kuhlpack*|"
            "bolsa_de_hielo|"
            "acumulador*")
_FOOD = (f"{_CHILLED}|onion*|leek*|lemon*|lime|limes|garlic|ginger|coriander|basil|parsley|thyme|sage|tarragon|mint|"
         "herbs|"
         "spice*|carrot*|spinach|potato*|tomato*|aubergine*|courgette*|squash|mushroom*|avocado*|bean|beans|chickpea*|"
         "lentil*|rice|pasta|noodle*|gnocchi|tortilla*|bread|flour|feta|halloumi|paneer|mozzarella|parmesan|egg|eggs|"
         "pepper|peppers|cabbage|beetroot|pumpkin|apple*|banana*|berries|chilli*|cumin|olive*|couscous|quinoa|honey|"
         "vinegar|"
         "naan|wraps|buns|pesto|salsa|sauce|sauces|stock|dressing|oil|protein*|veg|vegetable*|fruit*|wine|zutaten|"
         "gemuse|legumes|verduras")
_DISH = ("recipe*|ingredient*|meal|meals|meal_kit*|kit|dish|dishes|dinner|curry|taco*|ramen|risotto|stir_fry|salad|"
         "soup|pie|bake|rezept*|recette*|receta*|receita*")
_SKIPPED = ("skip|skips|skipped|skipping|pause|paused|pausing|on_hold|put_hold|holiday_hold|took_out|take_out|"
            "taken_out|turned_off|"
            "switched_off|opted_out|cleared|said_no|no_box|no_delivery|don't_want_the|didn't_want_the|said_stop|"
            "cancelled_just|cancelled_one|cancelled_the_week|cancelled_next|uberspr*|pausier*|saltar|salte|omitir|"
            "pular|saute|mis_en_pause")
_WEEK = ("week|weeks|week's|box|boxes|delivery|deliveries|monday*|tuesday*|wednesday*|thursday*|friday*|saturday*|"
         "sunday*|"
         "month|woche|wochen|lieferung|kiste|semaine*|semana*|caja*")
_CAME = ("anyway|regardless|still|nevertheless|nonetheless|came|arrived|arrives|turned_up|sent|delivered|packed|"
         "charged|"
         "taken|took|debited|gone_out|billed|bill|payment*|money|both|trotzdem|quand_meme|igualmente")
_ELSEWHERE = ("neighbo*|next_door*|other_side|other_end|down_the_road|up_the_road|up_the_hill|across_the_road|bus_stop|"
              "pavement|sidewalk|kerb|curb|empty_house|reception|stranger*|another_street|other_street|opposite|"
              "upstairs|"
              "downstairs|top_floor|ground_floor|other_flat|lobby|the_pub|the_shop")
_NET = ("internet|broadband|wifi|wi_fi|fibre|fiber|wlan|dsl|router|modem|landline|hotspot|netz|leitung|festnetz|"
        "connexion|conexion|conexao|la_box|our_line|the_line")
_DEVICE = ("sensor*|device*|node|nodes|unit|units|gateway*|hub|meter|meters|probe|probes|tracker*|controller*|camera*|"
           "thermostat*|beacon*|handheld*|gerat*|sensoren|kamera*|capteur*|appareil*|dispositivo*|camara*")
_READING = ("reading|readings|values|temperature*|humidity|pressure|measurement*|flow_meter*|meter_shows|messwert*|"
            "temperatur*|drucksensor*|mesure*|lectura*|medicion*|leitura*|medic*")
_BILL = "invoice*|bill|bills|billed|rechnung*|facture|factures|factura|facturas|fatura*"
_UNASKED = ("never_ordered|never_signed|never_asked|never_agreed|never_booked|didn't_order|didn't_ask|did_not_order|"
            "not_ordered|nie_gebucht|nie_bestellt|nicht_bestellt|nicht_gebucht|pas_demande*|pas_commande*|no_contrat*|"
            "nao_contrat*")
_CONTRACT = "contract*|subscription*|membership*|plan|vertrag*|abo|abonnement*|contrat|contrato*|suscripcion|assinatura"
_CLOCK = ("appointment*|booking*|calendar*|slot*|meeting*|event*|visit*|job*|schedule*|session*|class*|reminder*|"
          "termin*|kalender*|cita*|calendario|agenda|rendez_vous|reserva*|consulta*|entry|entries|time*|hour*")
_CALENDAR = "calendar*|diary|outlook|google_calendar|exchange|ical|feed|kalender*|calendario|agenda|phone|phones"
_ENTER = ("log_in|login|logins|logging_in|logged_in|get_in|get_into|getting_in|get_on|sign_in|signing_in|locked_out|"
          "access|open|anmeld*|anmeldung|hinein|einloggen|iniciar_sesion|entrar|connexion|connecter")


CONCEPTS: tuple[Concept, ...] = (
    *_area(
        "login sign-in access password account authentication security permissions anmeldung zugang connexion acceso",
        _concept("single sign-on broken", "saml certificate change, identity provider sign-in failure", f"""
            4 sso|saml|single_sign*|federated|assertion*|acs_url
            3 okta|azure_ad|entra|onelogin|adfs|identity_provider|idp|keycloak|jumpcloud|pingid
            2.5 company_login|work_login|work_account|company_account|company_page|corporate_login|firmenkonto|
                company_google
            3 signature|signed|signing|signer|issuer|fingerprint|thumbprint|key_id|trusted|untrusted|metadata|
                unknown_key
                login*|log_in|sign_in|sign_on|reply|message|recogni*|key|validated|expired|mismatch|invalid|verified|response
            2.5 certificat*|zertifikat*|certificado* login*|log*|sign*|rotat*|renew*|idp|saml|swap*
            2 everyone|everybody|every_user|nobody|staff|users|all|none|whole {_ENTER}
            2.5 back|dropped|drops|lands|round_and_round|merry_go_round button|signed_in|login_page|start_page|
                tile_page|login_screen|microsoft|google
            1.5 password|passwort|passwords gets|get|got|straight_in|works|ok|unaffected|kommt|damit|logs
            1.5 {_ENTER} {_FAIL}
            3 asks_again|asks_me|asks_us|back_again|again_and_again|thrown_out|throws_them|throws_me|throws_us|kicks_us
                logo|google|microsoft|details|okta|page|hospital|school|firm's|welcome|accepts
            2.5 accepts|accepted|happy|welcome|success again|blank|error*|throws*|thrown|trust|back
            2.5 none|nobody|everyone|everybody|whole|all able_to_enter|enter_the|use_the_system|get_onto|into_the_system
            2 authenticat*|pingfederate|approve|approves|approving thrown_out|kicked_out|sent_back|back|after|again|
                validated|everyone|staff|users|each
            1.5 re_exchange|exchange|new|current xml|certificate|metadata|signing_key
        """),
        _concept("password reset failure", "password reset link not working, cannot reset password", f"""
            3 password*|passwort*|contrasena*|mot_de_passe|senha* reset*|forg*|recover*|zuruck*|link*|restablecer|
                reinitialis*
            2 password*|passwort*|contrasena*|mot_de_passe|senha* {_FAIL}
            2 reset_link*|reset_email*|reset_page
            1 log_in|login|sign_in {_FAIL}
        """),
        _concept("two-factor code problem", "verification code not accepted, two-factor lockout", f"""
            3 2fa|mfa|two_factor|two_step|authenticator*|otp|one_time_code*|verification_code*|passcode*
            2 code*|sms {_FAIL}
            1 new_phone|lost_phone
        """),
        _concept("account locked", "account locked out, account suspended wrongly", """
            3 account*|konto|cuenta|compte|conta locked|lock|suspend*|disabled|deactivat*|banned|blocked|gesperrt|
                bloquead*|bloque
            2 too_many attempts|tries
        """),
        _concept("login failure", "cannot sign in", f"""
            3 log_in|login|logins|logging_in|sign_in|signing_in|log_on|locked_out {_FAIL}
            3 fingerprint|face_id|touch_id|gesichtserkennung {_FAIL}|not_recogni*|not|again
            3 anmelden|einloggen|me_connecter|iniciar_sesion|fazer_login|entrar nicht|impossible|pas|no|nao
        """),
        _concept("account takeover", "unauthorised account access, account hacked", """
            3 hacked|hijack*|takeover|taken_over|phish*|compromised|stranger
            3 unauthori*|someone_else login*|access*|transaction*|account*|purchase*|changed
            2 suspicious|unknown|unrecogni* login*|device*|sign_in*|activity
        """),
        _concept("missing permissions", "wrong role permissions, access rights wrong", """
            3.5 permission*|access_rights|role|roles|admin_rights|berechtigung*|permiso* can't|cannot|missing|denied|
                see|sees|change*|wrong|lost|edit*|allow*|everyone*|ticked|only
            3 access_denied|forbidden|403|not_authori*|can_see_everyone*
            1 can't|cannot|can see|view|open colleague*|everyone's|others
        """),
    ),
    *_area(
        "billing payment invoice charge price refund subscription money checkout pricing abrechnung zahlung rechnung "
        "facturation paiement facturacion pago",
        _concept("duplicate charge", "customer charged twice, repeated payment attempt", f"""
            4.5 {_MONEY} twice|times_two|two_lots|double|duplicat*|two_times|second_time|2x|doubly
            4 two|both|three|second charges|payments|debits|transactions|withdrawals|lots|lines
            4 doppelt|zweimal|zwei_mal abgebucht|abbuchung*|belastet|bezahlt|berechnet|eingezogen|gebucht
            4 dos_veces|doble|duplicad*|dos_cargos|dos_avisos pag*|cobr*|cargo*|tarjeta|banco
            4 deux_fois|double|doublon preleve*|prelevement*|debite*|paiement*|facture*|paye*|carte
            4 duas_vezes|dobro|duplicidade|duplicad* cobr*|pag*|debit*|fatura|cartao
            4 bank|bank's|banking_app|statement|visa|mastercard|amex|paypal|take_it|take_out|take_money|
                taking_it twice|two_times|times_two|two_lots|doubly|
                second_time|duplicat*
            3 repeated|repeats charge*|payment*|amount*|debit*
            3 exact_copy|copies|a_copy|left_it_again|no_record|not_on_record payment*|charge*|amount*|bank
            3 two|three|both|same_day|same_sum|minutes_apart|apart payment*|statement|banking_app|visa
            3 #same_number card*|bank*|visa|statement|account|paid|charge*|took|fee
            2.5 #same_amount
            2.5 #same_amount|#double_amount card*|bank*|visa|paid|charge*|payment*|banco
            4 #double_amount
            2 charge|charged|charges again|both|captured
            3 once_more|surplus|additional|again invoice*|transaction*|charge*|debited|debits|payment*|amount
            3 eingezogen|abgebucht|belastet|gebucht und_am|erneut|nochmal|noch_einmal|wieder|obwohl|nur_eine|
                nur_einmal
            2 same_amount|same_card|once|one_time|one_payment|one_receipt card|bank|pressed|tapped|charge*|two_times|
                twice
            1.5 retr*|repeat*|trying_again|pressed_once|sent_again|second_time|idempoten* payment*|charge*|card*|
                message
            1.5 bank shows|two|both|twice|extra
        """),
        _concept("wrong invoice amount", "bill higher than agreed, invoice calculation error", f"""
            3 invoice*|bill|rechnung*|factura*|facture*|fatura* wrong|incorrect|too_high|too_much|mismatch*|
                doesn't_match|falsch|off|higher|zu_hoch|trop_elevee|trop_haute|demasiado|alta|never
            3 overcharg*|incorrect_total|wrong_total|wrong_amount
            2 total*|subtotal|amount*|line_item* wrong|incorrect|doesn't|off|round*|mismatch*
            3.5 {_BILL}|charge|charged|charges|fee|fees|berechnet|facturado|cobr* {_UNASKED}
            3 {_BILL}|charge|charged|charges|fee|fees agreed|promised|offer|quoted|old_tariff|old_price
        """),
        _concept("wrong tax on invoice", "vat calculated wrongly, tax rate error", """
            3.5 vat|tax|taxes|gst|mwst|iva|tva|sales_tax|ust wrong|incorrect|rate|rates|calculat*|exempt*|falsch|
                charged|percent
            1 reverse_charge
        """),
        _concept("tax number missing on invoices", "invoice lacks registration number, vat number not printed", """
            4 tax_number*|vat_number*|tax_id|registration|org_nr|registered|mva|dic|steuernummer|ust_id|nif|cif|siret
                missing|gone|blank|empty|not|isn't|present|must|find|reject*|printed|nowhere
            3 invoice*|rechnung*|factura*|facture* reject*|sends|come_back|no_valid|not_valid|returned|back
            1.5 preview|template|layout|design line|number|pdf|blank|gap
        """),
        _concept("card payment declined", "payment declined at checkout, card not accepted", """
            3 card|payment*|karte|zahlung|tarjeta|pago|carte|paiement|cartao declin*|reject*|refus*|fail*|
                not_accepted|abgelehnt|rechazad*|recus*
            3 3d_secure|3ds|payment_failed|insufficient_funds
            1.5 checkout|pay error*|fail*|can't|won't
            4.5 debit_card|credit_card|bank_card|my_card|card|karte|carte|tarjeta|cartao blocked|frozen|locked|
                gesperrt|bloque*|bloquead*|swallowed
            3 karte|carte|tarjeta|cartao|card|card_declined abgelehnt|refuse*|rechazad*|recusad*|declined|refused
        """),
        _concept("transfer not arrived", "money transfer delayed", """
            3.5 transfer|transfers|wire|uberweisung*|virement*|transferencia*|sepa pending|not|hasn't|haven't|still|
                late|
                days|nicht|toujours|pas|no|nao|missing|yet|arriv*|receiv*
            3 sent|wired|transferred|uberwiesen hasn't_reached|not_reached|never_reached|not_arrived|beim_empfanger|yet
        """),
        _concept("refund not received", "refund delayed, missing refund", """
            3 refund*|money_back|ruckerstattung|erstattung|reembolso*|remboursement*|estorno* not|never|still|wait*|
                hasn't|haven't|where|yet|nicht|no|pas|delay*|outstanding|owed|when
            2 refund*|credit_note|reembolso* days|weeks|promised|pending
        """),
        _concept("subscription cancellation ignored", "billed after cancellation, cancelled plan still billed", f"""
            3.5 cancel*|terminat*|kundig*|gekundigt|resili* charged|charging|charge|billed|billing|invoice*|still|
                renew*|
                after|trotzdem|keeps
            3 auto_renew*|renewed|automatic_renewal didn't|without|never|against
            2 can't|cannot|no_way|nowhere|how|tried|twice cancel*
            2.5 cancel*|terminat*|kundig*|gekundigt|resili*|notice|out_of {_CONTRACT}
        """),
        _concept("paused plan still billed", "charged while on hold", """
            4 paused|pause|on_hold|frozen|freeze|suspended|pausiert|stillgelegt|en_pause charg*|fee|billed|took|debit*|
                invoice*|abgebucht|berechnet|facture*|preleve*
            2 membership*|subscription*|contract|vertrag|abo paused|on_hold|pausiert
        """),
        _concept("billed for unused seats", "too many users billed", """
            3.5 seat|seats|licence*|license*|users|lizenz*|licences|licencias|usuarios|nutzer billed|invoiced|charged|
                invoice|billing|rechnung|berechnet|facture*|facturad*|cobr*
        """),
        _concept("discount not applied", "coupon code rejected, promo code not working", """
            4 coupon*|voucher*|promo*|discount*|gutschein*|rabatt*|cupon|descuento*|remise|desconto
                code*|nicht|ungultig|pas|nao|refus*|
                not|wasn't|didn't|doesn't|isn't|invalid|expired|apply|applied|reject*|full_price|off
            3 code|codes isn't_valid|not_valid|invalid|selected_service|checkout
            1.5 code|codes checkout|basket|order|leaflet|newsletter|offer
            3.5 gift_card*|gift_voucher*|store_credit|goodwill|the_credit|my_credit|our_credit|account_credit|
                geschenkkarte|
                carte_cadeau|tarjeta_regalo balance|not|no|rejected|invalid|empty|untouched|unused|ignored|vanished|
                still|
                bank|debit_card|full|whole|all
            4 referral*|refer|referred|my_link|invited|friend|friends|sister|recommended free_box|credit|credits|
                reward*|
                earned|pending|bonus|promised|half_price
            4 full_price|full_whack|in_full|whole_price|full_amount|normal_price|regular_price|usual_price|nothing_off|
                same_as_ever|100 code|codes|offer|off|first|promo*|free|
                friends|gift|deal|leaflet|thumbs_up|billed|half_price
            3 joined|signed_up|sign_up|brought|my_link|recommended|referred|invited|introduced friend|friends|mates|
                pals|sister|brother|mum|colleague|link
            3 friend's|friends|mate|mates|refer|referral zero|welcome|bonus|reward|promise*|thank_you
            2 where_did|where_is|where's|what_happened credit|credits|reward|voucher|discount|offer|go
            3 credited|goodwill|apology account|bill|taken_off|isn't|not|never|nothing
            3 offer|half_price|percent|deal|promotion*|promo*|money_off|first_month|first_box where|not|full|didn't|
                never|
                can't|combin*|ignored|went
            2.5 balance says|still|untouched|unchanged|updated bank|card|price|all|full
        """),
        _concept("unexpected price increase", "price changed without notice, plan price increase", """
            3 price*|fee*|cost*|rate*|preis*|precio* increase*|raised|hike|went_up|higher|jump*|more_expensive|
                erhoh*|subi*
            2 without|no notice|warning price*|charge*|fee*
        """),
    ),
    *_area(
        "calendar scheduling appointment booking time sync kalender termine calendrier calendario",
        _concept("time zone shift", "appointments one hour off, daylight saving offset", f"""
            4.5 one_hour|an_hour|1_hour|1_hr|one_hr|60_minutes|1h|exactly_one early|earlier|late|later|off|ahead|
                behind|shift*|
                moved|wrong|forward|back|out|sooner|too_soon|before_they|before_it
            5 daylight|dst|clock_change|clocks|summer_time|winter_time|time_zone*|timezone* early|earlier|late|later|
                off|back|forward|change*|shift*|wrong|since|{_CLOCK}
            2 daylight|dst|time_zone*|timezone*|utc_offset
            4 zeitumstellung|sommerzeit|winterzeit|zeitzone*|horario_de_verano|zona_horaria|fuseau|heure_d'ete|
                heure_d'hiver|fuso_horario|horario_de_verao
            4 60_minuten|eine_stunde|1_stunde|60_minutos|60_minutes fruh|zu_fruh|spat|zu_spat|fruher|spater|tarde|
                temprano|antes|tot|tard|ahead|early
            3.5 stunde|una_hora|une_heure|uma_hora spater|fruher|verschoben|falsch|antes|mas_tarde|adelant*|trop_tot|
                plus_tot|decal*|depois|adiant*
            3.5 hour_before|hour_sooner|hour_too {_CLOCK}|phone*|everything|every
            2.5 #hour_apart
            2 #hour_apart {_CLOCK}|phone*|outlook|google|exchange|diary|booked
            2.5 {_CALENDAR} wrong|disagree*|not_agree|agree|different_time|wrong_time*|wrong_hour|sooner|earlier|
                too_early|early|not_matching|doesn't_match|not_where
            2 wrong_time*|weird_time*|wrong_hour|different_time*|times_wrong|shifted|moved_the_same_way
            1.5 too_early|too_soon|sooner|early {_CLOCK}|waiting|empty
            0.5 {_CALENDAR}
        """),
        _concept("double booking", "overlapping bookings, slot booked twice", f"""
            3.5 double_book*|overbook*|overlap*|doppelbuchung*|doppelt_gebucht|doppelt_belegt
            3.5 same slot|time|room|seat|table|technician|van two|twice|both|another|someone_else
            2 {_CLOCK} conflict*|clash*|overlap*
        """),
        _concept("no bookable places", "shown as fully booked", """
            3.5 full|fully_booked|booked_out|ausgebucht|complet|no_places|no_slots|no_availability|waiting_list
                class*|course*|lesson*|session*|slot*|people|half|free|room|table*|kurs*|warteliste|cours|never
            2.5 no_places|no_slots|no_spots|ausgebucht|fully_booked|booked_out
        """),
        _concept("calendar sync broken", "calendar not syncing, external calendar out of sync", """
            3 calendar*|kalender*|calendario*|outlook|ical|ics sync*|synchron*|two_way|not_updat*|stale|disconnect*
            2.5 sync*|synchron* stop*|broke*|fail*|doesn't|not|won't|hours
        """),
    ),
    *_area(
        "data export import report technical bug integration api performance software app",
        _concept("export cut off", "report export times out, incomplete data export", f"""
            4 {_OUTPUT} truncat*|cut|cuts|incomplete|half|stops|stopped|ends|end|missing|partial|part_way|breaks_off|
                quits|absent|fewer|rest|broken_off
            4 {_OUTPUT} timeout*|time_out|times_out|timed_out|504|spinn*|hang*|hung|never_finish*|never_ends|forever|
                never_ready|never_becomes|not_ready|preparing|
                gateway|wheel
            4 {_OUTPUT} abgebrochen|bricht|unvollstandig|abgeschnitten|cortad*|incomplet*|tronque*|interromp*
            2.5 rows|records|lines|jobs|entries|zeilen|filas|lignes|linhas missing|only|stops|stopped|cut|fewer|
                absent|last|nur|solo|seulement
            3 #round {_OUTPUT}|rows|row|records|entries
            3 at_line|at_row|line_number|last_line|last_row ends|always|stops|cut|only
            2 {_OUTPUT} compared|other|add_up|differ*|doesn't_match|short|too_few
            2.5 #some_of {_OUTPUT}|rows|records|lines|entries
            2 wheel|bar|spinner|progress|circle turns|stays|stuck|spins|two_thirds|stops|freezes
            1.5 report|reports|export*|run last_run|run_now|scheduled|status|started
            1.5 single|small|smaller|tiny|only|one|short works|complete|whole|seconds|comes|fine|all
            1.5 504|gateway_time*|timed_out
            1 {_OUTPUT}
        """),
        _concept("checkout failure", "cannot complete order", """
            3.5 checkout|basket|cart|warenkorb|kasse|panier|carrito|carrinho error*|fail*|can't|cannot|won't|doesn't|
                empty|
                stuck|nothing_happens|greyed|spins|leer|impossible|nicht|vide
        """),
        _concept("website page error", "page does not load", """
            3.5 page|website|site|seite|webseite|portal|pagina error|404|500|blank|white|won't_load|doesn't_load|
                not_load*|
                ladt_nicht|fehler|erreur|ne_charge
        """),
        _concept("import failure", "file import rejected, data import error", """
            3.5 import*|upload*_csv|csv_upload|importier* fail*|error*|reject*|stuck|invalid|wrong|duplicat*|skipp*|
                lost|column*|mapping|garbl*
            2 encoding|umlaut*|columns import*|csv|file
        """),
        _concept("file upload failure", "attachment upload fails, photo upload error", """
            3.5 upload*|attach*|hochlad*|adjunt*|photo*|picture*|anhang fail*|error*|stuck|too_large|won't|can't|
                cannot|doesn't|disappear*|reject*|spin*
        """),
        _concept("data loss", "records disappeared, entries deleted unexpectedly", """
            3.5 data|record*|entries|notes|customers|contacts|history|files|daten|datos|donnees|dados gone|vanish*|
                disappear*|lost|deleted|wiped|empty|verschwunden|perdid*|disparu*
            2 restore|backup|recover* data|deleted|lost|from
        """),
        _concept("duplicate records", "duplicated contacts, duplicate customer entries", """
            3.5 duplicate*|duplicated|doubles|twice contact*|customer_record*|client_record*|records|entries|
                profiles|people|clients
        """),
        _concept("search not finding results", "search broken, search returns nothing", """
            3.5 search*|suche|busqueda|recherche|filter* nothing|no_results|empty|doesn't|not|can't|missing|wrong|
                broken|find*
            3 no_results|keine_treffer|aucun_resultat|sin_resultados
        """),
        _concept("api rate limit", "too many api requests, request quota exceeded", """
            4 429|429s|too_many_requests|rate_limit*|throttl*|retry_after
            2 limit*|quota api|request*|docs|endpoint*|min|minute|tier
        """),
        _concept("api integration error", "integration stopped working, webhook delivery failure", """
            3 api|webhook*|zapier|integration*|endpoint*|oauth|api_key*|schnittstelle fail*|error*|stopped|timeout*|
                reject*|401|500|invalid|broke*|deliver*
            3 zap|zapier|integration|webhook*|api 401|unauthorized|token|stopped|disconnected
            3 quickbooks|xero|datev|stripe|salesforce|hubspot|shopify|slack sync*|connect*|stopped|fail*|error*|
                disconnect*|integration
        """),
        _concept("slow performance", "pages load slowly, system slowness", """
            3.5 slow|slowly|sluggish|laggy|lags|crawl*|langsam|lento|lenta|lentisimo|lente|devagar page*|screen*|
                site|system|load*|overview|dashboard|seconds|app|software|open*
            3 seconds|minute|minutes|ages|forever load*|come_up|fill_in|overview|page*|dashboard|screen*
        """),
        _concept("service outage", "service unavailable, platform down", """
            3.5 outage|downtime|is_down|was_down|went_down|unreachable|unavailable|503|ausfall|caido|en_panne|
                fora_do_ar
            2 nobody|everyone|whole site|app|service|system|platform reach|down|offline|load
        """),
        _concept("app crash", "app closes unexpectedly, mobile app crashes", """
            4 app|programm|aplicacion|application|aplicativo|software crash*|closes|shuts|dies|died|freez*|frozen|
                quits|sturzt|absturz*|cierra|plante|fecha|trava
            3 crash*|white_screen|blank_screen|black_screen|fatal_exception|androidruntime|sturzt_ab|absturze
            1.5 after_update|latest_version|new_version|after_the_update|updated_itself|previous_version
        """),
        _concept("firmware update failure", "update broke the device, bricked after update", """
            1 firmware|bios|bootloader
            3.5 firmware*|bios|ota|ota_update|bootloader|flash* fail*|stops|stopped|roll*|bricked|invalid|error|
                abbruch|
                schlagt|abgebrochen|can't|cannot|aborted|stuck|signature|echou*|falla|impossible
            3.5 bricked
            1.5 after|since update*|upgrade*|updating|flashing won't|dead|stopped|broken|black|loop|no_longer|no_boot
            2 after|since update*|upgrade*|updating|flashing laptop|tablet|phone|tv|console|printer|watch|box|device*|
                unit*
            2.5 update*|upgrade* rolls_back|rollback|stops_at|schlagt_fehl|fehlgeschlagen|fails_at
        """),
    ),
    *_area(
        "email notification message reminder communication mail nachricht courriel correo",
        _concept("emails land in spam", "notification emails not delivered, reminder mails going to junk", f"""
            4 {_MAIL} spam|spams|junk|quarantin*|spam_ordner|no_deseado|indesirable*|lixo
            4 spf|dkim|dmarc|blocklist*|blacklist*|mail_server|sender_reputation|deliverability|reverse_dns|greylist*
            3.5 {_MAIL} never|don't|didn't|doesn't|nothing|none|hasn't|haven't|isn't|aren't|not|no_longer|stopped|
                got_no|received_no|
                no_confirmation|no_reminder
                arriv*|receiv*|get|getting|got|deliver*|reach*|come|came|have|see
            3.5 {_MAIL} kommen_nicht|nicht_an|nicht_erhalten|no_llega*|no_reciben|n'arriv*|nao_chega*|nao_receb*
            2 recoivent|recevoir|recu|recois|reciben|recibido|erhalten|bekommen rien|plus|pas|nada|nichts|keine
            3 hotmail|aol|yahoo|live|icloud gmail|outlook|hotmail|addresses|adresse|accounts|liste
            3 550|451|421|554|sender verified|turned|refused|reject*|mail*|reputation|away
            2.5 indesirable*|spams|junk|posteingang|bandeja_de_entrada|boite_de_reception|caixa_de_entrada
            2 no_notice|didn't_hear|do_not_hear|never_heard|no_reminder|rien_eu|forgot|no_longer_confirm|
                don't_have_them
            1.5 sent|envoye|gesendet|enviado green|check|tick|coche|marked|says
            0.5 {_MAIL}
        """),
        _concept("too many notifications", "unwanted notification emails, notification overload", """
            3.5 notification*|email*|alerts|messages|reminders too_many|stop_sending|unsubscrib*|flood*|every_few|
                nonstop|keep_getting|turn_off|hundreds
            2.5 mail|mails|email|emails|notification*|alert* every_single|every_comment|switch_off|switched_off|
                turn_off|
                stop_these|benachrichtig*
        """),
        _concept("text messages not delivered", "sms delivery failure, sms not received", """
            3.5 sms|text_message*|texts|whatsapp not|never|didn't|undelivered|fail*|stopped|receiv*|arriv*
        """),
    ),
    *_area(
        "settings configuration document feature request account privacy",
        _concept("document layout broken", "pdf layout broken, print layout wrong", """
            3.5 pdf|print*|layout|template*|logo|header|margin*|font* broken|wrong|cut_off|overlap*|blurry|misalign*|
                missing|ugly|garbled
        """),
        _concept("wrong translation", "translation error in interface, language setting ignored", """
            3.5 translat*|language|ubersetz*|traduc*|sprache|idioma|langue wrong|error*|mixed|english|switch*|
                setting*|falsch|half
        """),
        _concept("domain setup failure", "custom domain certificate error, dns setup problem", """
            3 custom_domain|dns|cname|ssl|https|subdomain|domain not|fail*|error*|expired|invalid|pending|warning|
                verify*
        """),
        _concept("plan limit reached", "seat limit reached, usage limit blocking", """
            3.5 limit|quota|cap|seats|licen* reached|exceed*|hit|more|full|maximum|blocked|upgrade
        """),
        _concept("missing feature", "feature request, wish for a new option", """
            3.5 feature_request|would_be_great|would_be_wonderful|would_be_lovely|would_be_nice|would_be_helpful|
                would_be_useful|can_you_add|could_we_have|would_love|a_wish|wish|suggestion|roadmap|
                please_add|any_plans|could_you_add|nice_if|consider_adding|on_your_list|idea|vote_for|gladly_pay|
                might_there|
                could_there_be|have_i_overlooked|please_consider
            3 smaller|one_person|single_person|for_one|by_myself portion*|subscription|people|person|plan|size|box
        """),
        _concept("data deletion request", "privacy deletion request, personal data erasure", """
            3.5 gdpr|dsgvo|rgpd|lgpd|ccpa|right_to_be|personal_data|everything_we_hold delet*|eras*|request*|remov*|
                losch*|law|supprim*|borrar|excluir
            3.5 delete|erase|erased|remove|removed|losch*|supprim*|borrar|excluir person|my_account|our_account|
                my_data|
                information|account_permanently|records|properly|kundenkonto|mon_compte|mi_cuenta|minha_conta
        """),
        _concept("unclear how to set up", "onboarding question, setup instructions unclear", """
            1.5 how_do_i|how_do_we|how_can_i|how_to|wie_kann_ich|como_puedo|comment_puis
            3 instructions|manual|documentation|guide unclear|confus*|missing|outdated|wrong|understand
        """),
        _concept("product documents requested", "request for documentation", """
            3.5 register_map|datasheet*|data_sheet*|declaration|documentation|handbuch|datenblatt*|notice|ficha_tecnica
                send|could_you|please|need|provide|bitte|envoyer|enviar
        """),
    ),
    *_area(
        "shipping delivery order parcel return product quality defect shop lieferung versand livraison envio entrega",
        _concept("parcel not delivered", "delivery never arrived, parcel late or lost", f"""
            4.5 {_PARCEL} {_NOT_COME}
            3.5 {_PARCEL} late|delay*|overdue|still|waiting|hasn't|haven't|yet|slow|lost|stolen|verspat*|retras*|
                retard*|
                atras*|verloren|perdid*|perdu*
            3.5 parcel*|package*|paket*|colis|paquete* missing|disappear*|fehlt|disparu
            3.5 where_is|where_are|where's|wo_bleibt|wo_ist|ou_est|donde_esta|onde_esta {_PARCEL}
            3.5 warte|warten|j'attends|attends|espero|esperando|waiting {_PARCEL}
            3.5 marked|says|shows|status|suivi|status|laut|handed delivered|livre*|zugestellt|geliefert|entregado|
                entregue
                nothing|not|never|no|wasn't|isn't|neighbo*|porch|door|rien|nichts|aber|mais|nada
            3 no_one_came|nobody_came|never_came|doesn't_show|didn't_show|should_have_come
                delivery|van|driver|courier|window|parcel*
            2.5 marked|claims|says|shows delivered|handed
            2 tracking|shipped|dispatch*|carrier|courier|post|promised days|weeks|stuck|moved|update*|depot|since|now
        """),
        _concept("wrong item sent", "incorrect item delivered, order mix-up", f"""
            3.5 wrong|different|incorrect|other|falsch*|equivocad*|errado|mauvais* item|product|size_sent|colour|
                color|article|artikel|model|pair|one_arrived|jacket|shoe*|articulo
            3 sent|received|got|delivered|shipped|arrived|box|ordered|replaced instead_of|instead|replaced
            3 i_ordered|we_ordered|bestellt|commande got_the|got_a|got_an|came_with|bekommen|erhalten|received_a
            4 not_what_i|someone_else's|somebody_else's|another_customer* order*|bag|parcel*|shopping|box
            3 {_UNASKED} bag|bags|box|drin|item*|artikel|there's|got|received
            2.5 substitut*|ersatzartikel
        """),
        _concept("arrived damaged", "goods damaged on arrival, damaged on delivery", f"""
            3.5 arrived|delivered|box|package|parcel|unpack*|opened|transit|paket|karton|lieferung|paquete|caja|colis
                damaged|broken|crushed|smashed|dented|cracked|shattered|torn|wet|scratch*|kaputt|roto|beschadigt|
                casse*|
                abime*
            3 packag*|packing|packs damaged|crushed|poor|flimsy|broken
            4 {_GOODS} {_SPOILED}
        """),
        _concept("items missing from order", "incomplete order, parts missing from box", f"""
            3.5 missing|without|lacks|absent|fehl*|falta*|manqu* part|parts|piece|pieces|screw*|pegs|stakes|
                accessor*|cable|charger|adapter|poles|items|products|articles|teil*|artikel|produkt*|pieza*|articulos
            3 incomplete|only_received|only_got order|one|box|half|set|of
            3.5 missing|forgot|forgotten|short|zero|left_out|half_empty|not_packed|wasn't_in|weren't_in|not_in|absent|
                lacking|
                w|manque*|fehl*|falta*
                {_FOOD}|{_DISH}
            2.3 no|without|zero|neither|not_one {_FOOD}
            3 where_are|where_is|where's|nothing_but|left_out {_FOOD}
            2.5 no|without|zero|missing|short|none|half|forgot {_DISH}
            3 recipe*|the_card|card_says|packing_list|sticker|ingredient_list wants|needs|lists|says|calls|asks none|
                one|only|got|count|no|zero|
                seven|not|gone
            2 everything_else|all_the_rest|the_rest|other_two there|was_there|is_there|fine|present|arrived|came
            2 forgot|forgotten|forget pack|packed|include|put
        """),
        _concept("food not kept cold", "chilled food arriving warm, cold packs melted in transit", f"""
            4 {_CHILLED} {_WARMED}
            4 {_COOLING} melted|liquid|water|floppy|warm|thawed|slop*|soft|only|one|single|no_chill|liquide|geschmolzen|
                flussig|derretid*
            3.5 lukewarm|tepid|warm|room_temperature|not_chilled|not_cold box|boxes|delivery|arriv*|unpacked|delivered|
                bag|
                inside
            3 degrees|thermometer|temperature|grad|degres|grados {_CHILLED}|fridge|opened|unpacked|safe|cold
            3 nothing|not|isn't|never|should|supposed|no_longer|used cold|chilled|frozen|refrigerat*
                arriv*|delivery|delivered|comes|box|boxes|unpacked
            3 fridge|refrigerat*|cold_chain|cold_store|kuhlkette|chaine_du_froid|cadena_de_frio hours|off|broken|
                interrupted|
                out|not
            3 too_little|not_enough|no_more ice|ice_pack*|gel_pack*|cool_pack*|cooling
            3 smells|smelled|smelt|swimming|bulging|sour|turned|gone_off|rancid milk|cheese|ham|mozzarella|dairy|yogh*|
                cream|fish|meat|chicken|prawn*
            1 {_COOLING}
            1 warm|lukewarm|tepid|sweating|thermometer
        """),
        _concept("skipped delivery sent anyway", "pause request not saved, skipped week still charged", f"""
            4 {_SKIPPED} {_WEEK} {_CAME}
            3 {_SKIPPED} {_WEEK}|#day|until|plan
            2.5 {_SKIPPED} {_CAME}
            3.5 box|boxes|delivery|parcel*|food anyway|regardless|unwanted|not_want*|uninvited|while_we|despite|
                surprise|
                all_the_same
            3 skip|skipping|pause broken|button|function|doesn't|not_work*|ignored|no_effect
            3 away|holiday|holidays|abroad|trip|got_home|came_home|came_back|back_from|travelling|hospital|
                moving_house|nobody_home|urlaub|vacances|vacaciones
                box|boxes|delivery|deliveries|parcel*|food
            2.5 tick|ticks|ticked|grey|greyed|see_you week|weeks|box|app|next|anyway|month|calendar|pressed|button
            2.5 pressed|tapped|marked|unticked|deselected week|weeks|monday|delivery|deliveries
            2 charged|taken|gone_out|took|bill box|boxes|week
            2 box|boxes week|away
            2 october|month|week|weeks|next|certain off|skip*|cancelled
        """),
        _concept("left at wrong address", "delivered to wrong house, delivery instructions ignored", f"""
            4 wrong|another|someone_else's|somebody_else's|different|not_our|not_my|isn't_mine|isn't_ours|not_mine
                house|door|address|porch|building|street|flat|doorstep|road|step|entrance|property
            3.5 photo|picture|proof door|doors|porch|house|hallway|doorstep|gate|mine|ours
            3.5 driver*|courier*|man|he|left|leaves|leaving|dropped|drops|stood|box|boxes|food|carton|parcel*|shopping
                {_ELSEWHERE}
            3 neighbo*|stranger*|someone_else has_our|have_our|has_my|have_my|dinner|food|box|boxes
            3 it_was_with|was_at_number|found_it_at|handed_to|given_to|left_with|goes_to family|house|flat|number|door|
                floor|man|lady|people|neighbo*|them
            3.5 leave_in|leave_it|leave_at|leave_by|leave_with|put_it porch|shed|garage|bin|bins|gate|door|neighbo*|
                letters
            3.5 old_flat|old_house|old_address|previous_address|former_address|changed_the_address|new_address
                deliver*|keep|still|sent|goes|box
            3.5 instruction*|safe_place|delivery_note* box|driver*|courier*|shed|gate|porch|behind|side|garage|ignored
            3 postcode|sat_nav|house_name*|house_number*|address driver*|courier*|wrong|different|fix|label|dropped|left
            3 we_live|i_live|we're_at|our_house|our_door box|food|leaves|left|went|dropped|delivered|number
            2 driver*|courier* first|stop|building*|road|lane|close|crescent|cottage|court
            2 lane|road|close|crescent|cottage|court|street|avenue|rise|drive went|left|leaves|label|carton|box|
                address|empty
        """),
        _concept("allergen not declared", "allergy warning missing, wrong allergen information", """
            5 allerg*|epipen|hives|anaphyla*|coeliac|celiac|intoleran*|nut_free|gluten_free|rash|unvertraglich*
                card|cards|label*|list*|leaflet|ingredient*|contain*|sachet|symbol*|printed|packet|recipe*|sauce|
                selection
            3.5 peanut*|nuts|nut|sesame|gluten|tahini|lactose|soy|shellfish|egg card|cards|label*|list*|leaflet|symbol*|
                printed|warn*|lit|declar*|free
            2 allerg*|epipen|hives|anaphyla*|coeliac|celiac
        """),
        _concept("wrong size", "size does not fit, sizing chart misleading", """
            3.5 size|sizing|fit|fits|grosse|talla|taille|tamanho too_small|too_big|too_tight|too_large|small*|narrow|
                tight|runs|wrong|chart|exchange|loose|large*
        """),
        _concept("return not processed", "return request ignored, refund for return missing", """
            3.5 return*|sent_back|retoure|devolucion|ruckgabe item*|parcel*|no_response|not_processed|ignored|label|
                warehouse|refund*|received
        """),
        _concept("out of stock after ordering", "order cancelled out of stock, stock shown wrongly", """
            3.5 out_of_stock|back_order*|backorder*|sold_out|not_in_stock|unavailable|ausverkauft|agotado|rupture
                order*|cancel*|bought|paid|shown|available|said
        """),
        _concept("warranty claim refused", "warranty repair denied, guarantee not honoured", """
            3.5 warranty|guarantee|garantie|garantia reject*|refus*|denied|declin*|not_cover*|expired|claim*|
                honou*r*|void
        """),
        _concept("seam or fabric failure", "stitching came apart, fabric tear", """
            3.5 seam*|stitch*|fabric|sole|soles|strap*|lining|naht|costura|mesh|sleeve split*|tear*|torn|ripped|rip|
                came|coming|apart|unravel*|peel*|detach*|hole*|fray*|broke*|separat*|delaminat*|loose
        """),
        _concept("zipper failure", "zipper stuck, broken zip", """
            3.5 zip|zips|zipper*|reissverschluss|cremallera|fermeture|slider stuck|broke*|jam*|split*|won't|teeth|
                snag*|off|doesn't|apart|close*
            2 zip|zipper*
        """),
        _concept("leaks water", "not waterproof, water leaking through", """
            3.5 leak*|seep*|soak*|drip*|damp|wet|undicht|gotea* rain*|water*|tent|jacket|boot*|shoe*|through|inside|
                bottle|seam*|floor|membrane|wash*|valve
            2.5 rain*|soaked|drenched|wet_through jacket|shell|tent|shoulders|boots|shoes|through|straight_through|
                inside|bag
            3 not_waterproof|isn't_waterproof|waterproof*|water_resistant wet|leak*|soak*|fail*|through|supposed
        """),
    ),
    *_area(
        "device hardware network connection battery product defect",
        _concept("battery drains fast", "short battery life, battery not charging", f"""
            3.5 battery|batteries|akku*|bateria*|batterie*|low_battery drain*|dies|dead|hours|empty|short|not_charg*|
                won't_charge|doesn't_hold|percent|swollen|leer|last|lasts|hielt*|warning*|instead|vide|descarg*
            3 won't_charge|not_charging|doesn't_charge|charging_port
            3 {_DEVICE}|phone*|laptop* empty|flat|leer|out_of_power|one_shift|through_a_shift after|within|nach|shift|
                hours|
                days
            2 eating_power|sleep_mode|power_consumption|changing_cells|fresh_cells
        """),
        _concept("device overheats", "device gets too hot, overheating shutdown", """
            3.5 so_hot|gets_hot|very_hot|too_hot laptop|phone|device|fan|shuts|battery|lap|touch|machine|case
            3.5 overheat*|burning_hot|uberhitz*|sobrecalent*|surchauff*
            3.5 too_hot|very_hot|smok*|burn*_smell|melted
                laptop|phone|device|fan|battery|machine|case|charger|plug|cable|adapter|unit|hub|gerat*|akku*
        """),
        _concept("device won't turn on", "no power, device dead on arrival", """
            3.5 won't|doesn't|not|never|refuses turn_on|power_on|boot|switch_on|startet|einschalten|enciende
            3 dead_on_arrival|doa|no_power|completely_dead|won't_start
        """),
        _concept("bluetooth pairing failure", "device not pairing, bluetooth disconnects", """
            3.5 bluetooth|pair|pairing|koppeln|headset fail*|won't|can't|drop*|disconnect*|not|find*|lost|loses
        """),
        _concept("cracked screen", "display defect, screen broken", """
            3.5 screen|display|bildschirm|pantalla|ecran|tela crack*|broken|flicker*|lines|dead_pixel*|black|
                shatter*|spot*|dim
        """),
        _concept("printer connection failure", "printer offline, printing fails", """
            3.5 printer*|printing|drucker|impresora|imprimante offline|won't|jam*|not|fail*|error*|connect*|queue|
                blank
        """),
        _concept("internet connection lost", "no internet connection, broadband outage", f"""
            3.5 {_NET} down|dead|offline|red|rot|rouge|blink*|clignote|out|nothing|no|lost|kein|keine|weder|no_signal|
                plus|
                coupe*|
                without|ausfall|ausgefallen|tot|weg|sans|sin|sem|cortad*|caido
            4 no_internet|no_connection|no_wifi|no_broadband|without_internet|kein_internet|keine_verbindung|
                plus_de_connexion|plus_d'internet|sin_internet|sem_internet|completely_offline|lost_connection|
                line_is_dead
            3 box|la_box|livebox signal|pas_de_signal|rouge|clignote|connecter
            2 router|modem|box|internet|connection restart*|reboot*|factory_reset|neustart|redemarr*|red_light|globe|
                lamp*
            2 street|neighbour*|area|line|postcode|whole dead|affected|outage|down|fault
            2 offline|down since|still|again|status_page cable|chatbot|phone|contract|modem|router|line
        """),
        _concept("slow internet speed", "internet speed too low, slow broadband connection", f"""
            4 {_NET} slow|slowly|langsam*|lent|lente|lenta|lento|lentisim*|sluggish|crawl*|buffer*|lag|lags|ruckel*|
                devagar
            3.5 mbit|mbits|mbps|megabit*|gbit|speed|speeds|speed_test*|ping|bandwidth|download_rate instead|statt|
                paying|pay|
                only|nur|evening*|dropped|slow*|low|au_lieu|promised|fraction|tenth|get|solo|lugar|peine
            3 netflix|stream*|video|videos|video_call*|youtube|gaming|game buffer*|freez*|stutter*|ruckel*|lag|lags|
                break*|
                crawl*|lent*
            2 pages|uploads|downloads|everything crawl*|lags|sluggish
            1.5 router line|overloaded|slow*|sluggish|help
        """),
        _concept("no mobile signal", "no network coverage, mobile reception lost", """
            3.5 signal|coverage|reception|network|empfang|cobertura|reseau|sinal no|lost|bars|weak|drop*|none|kein|
                sin|dead
            3 calls|call drop*|cut|fail*
        """),
        _concept("sim activation failure", "esim not activating", """
            3.5 sim|esim|sim_card activat*|aktivier*|stuck|not|fail*|pending|reject*|refus*|won't|activer|activar
        """),
        _concept("number porting stuck", "number transfer stuck, phone number not ported", """
            4 port|ported|porting|portier*|rufnummernmitnahme|portabilidad|portabilite|transfer* number|nummer|numero|
                old_provider|provider
        """),
        _concept("access refused at entrance", "entrance does not open", """
            3.5 door|doors|gate|gates|turnstile*|barrier*|entrance|drehkreuz|schranke|eingang|portail|puerta|portao
                card|badge|code|qr|wristband|fob|key_card|chip|scan|scanner|karte|carte|tarjeta
            2 door|gate|turnstile*|barrier|entrance|badge|card won't|doesn't|stays|refus*|reject*|denied|closed|shut|
                locked|red
        """),
        _concept("no hot water", "showers stay cold", """
            4 hot_water|warmwasser|warmes_wasser|eau_chaude|agua_caliente|agua_quente no|kein|only|not|never|pas|sin|
                sem|
                nicht|isn't|without
            3.5 shower*|dusche*|douche*|ducha* cold|ice_cold|kalt|froide*|fria
        """),
        _concept("technician did not show up", "missed technician appointment", """
            5 technician*|engineer|techniker*|monteur*|fitter|installer|plumber|electrician|technicien|tecnico|
                appointment*|
                termin
                not_come|didn't_come|never_came|never_turned|didn't_turn|no_one_showed|nobody_showed|never_showed|
                didn't_show|not_show|no_one_came|nobody_came|no_show|nicht_erschienen|nicht_gekommen|nicht_aufgetaucht|
                niemand|pas_venu|jamais_venu|no_vino|nao_veio|never_appeared
            3.2 no_one_showed|nobody_showed|never_showed|nobody_turned_up|no_one_turned_up|never_turned_up
            2.5 engineer|technician*|techniker*|fitter|technicien booked|appointment|due|slot|termin|rendez_vous
        """),
        _concept("device loses connection", "device keeps going offline", f"""
            3.5 {_DEVICE} offline|disconnect*|drop|drops|dropout*|lose|loses|losing|lost|reconnect*|unreachable|
                vanish*|
                verbindung*|verlier*|deconnect*|perd|perdent|desconect*|pierde*|connection|no_data|grey
            4 stopped_reporting|stopped_sending|stops_reporting|not_reporting|last_value|hours_of_data
                {_DEVICE}|saturday|lose|since|from
            2 offline|disconnect*|dropout*|verbindung|connection|unreachable power_cycle|rebooting|neustart|reset|
                restart
        """),
        _concept("wrong sensor readings", "inaccurate measurements, sensor values off", f"""
            3.5 {_READING} wrong|off|nonsense|drift*|above|too_high|too_low|below|incorrect|inaccurate|jumps|factor|
                implausible|stimmen_nicht|zu_viel|zu_hoch|falsch*|faux|fausse*|erron*|incorrect*|errad*|shows_0|0
            2.5 calibrat*|recalibrat*|kalibrier*|etalonn* drift*|nothing|back|nichts|didn't|reference|off
        """),
        _concept("replacement not received", "waiting for replacement, repair takes too long", """
            4 rma|replacement|repair|reparatur|ersatzgerat|austauschgerat|remplacement|reparacion
                where|still|waiting|no_answer|no_replacement|weeks|month|yet|seit|noch|toujours|todavia
        """),
        _concept("roaming charges", "unexpected roaming bill, data charges abroad", """
            1 roaming|mobile_data
            2.5 mobile_data|roaming bill*|charg*|euro*|fee*|cost*
            3.5 roaming|abroad|holiday|foreign charg*|bill*|cost*|fee*|data|expensive|euro*
        """),
    ),
    *_area(
        "travel flight trip booking luggage journey service",
        _concept("flight cancelled", "flight cancellation, trip cancelled by operator", """
            3.5 flight*|train|ferry|tour|trip|flug|vuelo|vol|voo cancel*|annul*|gestrichen|cancelad*|scrapped
        """),
        _concept("flight delayed", "missed connection, long departure delay", """
            3.5 flight*|train|departure|flug|vuelo|connection delay*|late|missed|hours|verspat*|retras*
        """),
        _concept("lost baggage", "luggage missing, delayed suitcase", """
            3.5 baggage|luggage|suitcase*|my_bags|koffer|gepack|equipaje|maleta*|bagage* lost|missing|delayed|never|
                didn't|carousel|arrive*|damaged|verloren|perdid*
        """),
        _concept("noise disturbance", "room too noisy", """
            3.5 noise|noises|noisy|loud|larm|laut|bruit|bruyant*|ruido|ruidos*|barulho|music
                sleep*|night|nacht|nuit|noche|room|zimmer|chambre|habitacion|quarto|neighbour*|bar|street|3am|morning|
                until
        """),
        _concept("room not clean", "cleaning not done", """
            4 dirty|filthy|stain*|hair|unclean|not_clean*|dusty|schmutzig|dreckig|sale|sucio|sucia|sujo|mould*
                room|bathroom|bathtub|bath|sheets|bed|towel*|carpet|floor|zimmer|bad|bett*|chambre|salle|lit|
                habitacion|
                quarto|kitchen|apartment
        """),
        _concept("staff unfriendly", "rude member of staff", """
            3.5 rude|unfriendly|arrogant|insult*|shouted|unfreundlich|impoli*|grosero*|maleducad*
                staff|waiter|driver|receptionist|employee*|agent|cashier|mitarbeiter*|personal|lady|man|guy|personnel
        """),
        _concept("booking not confirmed", "missing booking confirmation, reservation not found", """
            3.5 booking|reservation|hotel|room|buchung|reserva no_record|not_found|no_confirmation|never_confirmed|
                not_in|doesn't_exist|couldn't_find|no_reservation|unconfirmed|vanish*
            2 reception|check_in|desk booking|reservation found|find|no
        """),
        _concept("check-in failure", "online check-in error, boarding pass not issued", """
            3.5 check_in|checkin|boarding_pass fail*|error*|can't|won't|not|unable|missing|rejected
        """),
        _concept("rude or slow support", "no answer from support, bad support experience", """
            3 no_reply|no_response|no_answer|nobody_answer*|ignored|unanswered|still_waiting_for_a_reply|hung_up
                support|ticket|email*|call*|week*|days|times
            3 rude|unhelpful
            3 on_hold call*|phone|minutes|hour|hotline|support
        """),
    ),
)
