"""Small sets of trades that the lexicon does not know: (cause, subject, body).

The rules for a ticket's own words were widened on the first three. The last two were written before that, and only
their totals were seen meanwhile, not their labels.
"""

LIBRARY = (
    ("hold", "Reserved novel lent out",
     "My reservation came in on Monday. When I stood at the desk on Tuesday they had lent the book to somebody"
     " else."),
    ("hold", "",
     "I had a hold on two cookbooks and both were handed to other readers before my pickup week was over."),
    ("hold", "where is my reservation",
     "Your mail says the reservation is waiting on shelf 4. It isn't there, the girl at the desk thinks "
     "another reader got it."),
    ("hold", "hold!!", "third time now that a hold of mine is given away. I pay 2 euro for each of them"),
    ("fee", "Late fee",
     "Your letter asks me for a late fee of 3.20. I brought the DVDs back on the Saturday before, through the "
     "slot in the wall."),
    ("fee", "fine not right",
     "I have a fine on my account for a book that I returned in time, it was in the drop box on the due date."),
    ("fee", "Mahnung? Fine?",
     "Overdue fine again although everything was returned two days early. Nobody empties that drop box on "
     "weekends."),
    ("fee", "fees",
     "please take the late fees off, we were on time with all seven books, my son saw them fall into the slot"),
    ("card", "self checkout", "The self-checkout rejects my library card. My old card was fine."),
    ("card", "New cards",
     "Since we got the blue library cards the self-service machine doesn't read them, so I queue at the desk."),
    ("card", "scanner", "the machine by the door can't read the barcode of my new card"),
    ("noise", "Wednesday", "The reading room is very loud when the toddler group is in. I can't concentrate."),
    ("toilet", "", "The toilets on the second floor have been closed since May."),
    ("ebook", "E-books", "The e-book app signs me out after every chapter."),
)

GYM = (
    ("machine", "Rowing machine",
     "Two of the rowing machines have been out of order for three weeks. There's a paper sign on them and "
     "that's it."),
    ("machine", "rowers", "When will somebody fix the rowing machines? The chain hangs out of one of them."),
    ("machine", "broken equipment", "the rowing machine near the window is broken, again"),
    ("machine", "", "Only one rower left that works and there is always a queue. Please repair the rowing machines."),
    ("class", "Spinning on Thursday",
     "I came in for the 7pm spinning class and found a note on the door. Cancelled, no message, nothing."),
    ("class", "class called off",
     "Yoga was cancelled ten minutes before it started. I'd driven 40 minutes. That's the second yoga class "
     "this month."),
    ("class", "No instructor",
     "We were twelve people standing in the studio and no instructor turned up. Reception said the class was "
     "cancelled."),
    ("class", "tuesday pilates", "pilates cancelled without notice AGAIN. could you at least send a text"),
    ("showers", "Freezing", "The showers in the men's changing room are ice cold since Sunday."),
    ("showers", "cold shower", "No hot water in the ladies' showers all week."),
    ("showers", "changing room", "I like the gym but the water in the showers never gets warm any more."),
    ("showers", "showers please", "had another cold shower today, is the boiler broken?"),
    ("music", "Volume", "The music on the training floor is too loud for me to think."),
    ("towel", "Towels", "Where can I get a second towel?"),
)

BANK = (
    ("atm", "Cash machine ate my card",
     "The cash machine in Mill Street kept my card on Friday evening and gave no receipt."),
    ("atm", "Card swallowed", "Your ATM swallowed my card when I asked for 50 euro. How do I get it back?"),
    ("atm", "", "i put my card in the ATM outside the branch and it never came out again"),
    ("atm", "card gone", "The machine at the station took my card and then said 'out of service'."),
    ("transfer", "Standing order",
     "My rent standing order did not go out on the first. The landlord wrote to me today."),
    ("transfer", "rent not paid",
     "The standing order for my rent wasn't carried out this month, though there was enough in the account."),
    ("transfer", "standing orders",
     "None of my three standing orders were executed on 1 May. Now I have two reminders."),
    ("transfer", "Late rent", "why was my standing order not sent? I had to wire it by hand and pay a penalty"),
    ("statement", "Paper statements", "I still get no paper statements by post, I asked for them in March."),
    ("statement", "where's my statement",
     "The quarterly statement has not come in the post. I need it for my tax adviser."),
    ("statement", "statements",
     "since the new year no statement in the letter box, neither for January nor February"),
    ("queue", "Branch", "I waited 50 minutes in the branch with one counter open."),
    ("coin", "Coins", "The coin counter in the lobby has been closed since winter."),
)

AIRLINE = (
    ("seat", "Seats apart",
     "We paid for seats next to each other and were put eight rows apart on the flight to Porto."),
    ("seat", "Paid seat", "I booked and paid for seat 12A. At the gate I was given 31E and nobody could say why."),
    ("seat", "seat changed", "my window seat was changed to a middle seat after I'd paid 18 euro for it"),
    ("seat", "", "Our reserved seats had been given to another family, so my daughter sat alone."),
    ("bag", "Suitcase", "My suitcase did not come off the belt in Vienna. It's been four days."),
    ("bag", "no luggage", "We've been in Crete since Saturday and our luggage hasn't. Nobody answers the bag line."),
    ("bag", "Where is my bag", "bag never arrived with flight 882, reference VIE22871"),
    ("bag", "Lost suitcase", "Still no trace of the blue suitcase I checked in at Lyon."),
    ("meal", "Vegetarian meal", "I ordered the vegetarian meal for both flights and got chicken twice."),
    ("meal", "meals", "The special meal I booked wasn't on board. The crew had no list."),
    ("meal", "No food",
     "I had ordered a gluten free meal, there was none on board for me. Eleven hours on crackers."),
    ("meal", "special meal again", "for the third time my vegan meal was not loaded"),
    ("screen", "Screen", "The screen in seat 40C was black all the way."),
    ("lounge", "Lounge", "The lounge was so full that we stood."),
)

LANDLORD = (
    ("heating", "Radiators", "The radiators in our flat have been cold since Thursday, we sit here in coats."),
    ("heating", "no heating", "There is no heating on the fourth floor. My mother is 84."),
    ("heating", "Heating!!", "heating still not working, the man who came on monday only looked at it"),
    ("heating", "", "Cold flat again. The radiator in the bedroom stays cold whatever I do with the valve."),
    ("mould", "Black spots", "There's mould behind the wardrobe in the bedroom and it is spreading."),
    ("mould", "Mould in bathroom", "The mould on the bathroom ceiling is back after your painter was here."),
    ("mould", "damp wall", "Our bedroom wall is damp and black with mould, my son has a cough."),
    ("deposit", "Deposit", "I moved out in March and still haven't got my deposit back."),
    ("deposit", "my deposit", "When will you return the deposit? It's three months since I handed over the keys."),
    ("deposit", "moved out", "you keep 400 of my deposit for a carpet that was old when I moved in"),
    ("deposit", "", "No answer to two letters about my deposit of 900 euro."),
    ("lift", "Lift", "The lift has been stuck between floors since this morning."),
    ("bins", "Bins", "The bins weren't emptied for two weeks."),
)

WIDENED_ON = {"library": LIBRARY, "gym": GYM, "bank": BANK}
NOT_LOOKED_AT = {"airline": AIRLINE, "landlord": LANDLORD}
